# Runs the tests of saved games and records on a processor with the other byte order (s390x, by QEMU) and on one with 32 bits, and
# compiles the library for a processor without an operating system. Uses the Rust of Debian's packages, which has libraries for
# these processors; they are unpacked into target/targets. The C compilers and QEMU are installed.

BYTES=s390x-unknown-linux-gnu
BITS=i686-unknown-linux-gnu
BARE=thumbv7em-none-eabi
TARGETS=$PWD/target/targets

# Calls an apt tool that knows the packages of all three processors. The lists of the system stay as they are.
apt_of_targets() {
    local tool=$1
    shift
    "$tool" -o APT::Architecture=amd64 -o APT::Architectures::=s390x -o APT::Architectures::=i386 -o APT::Sandbox::User= \
        -o Dir::State::lists="$TARGETS/lists" -o Dir::Cache="$TARGETS/cache" "$@"
}

# rust_of_targets VERSION: sets RUSTC.
rust_of_targets() {
    local place=$TARGETS/rust version deb
    source .ci/oldest_rust.bash
    [ -x "$place/rustc" ] || unpack_debian_rust "$1" "$place"
    version=$(debian_version "$1")
    mkdir -p "$TARGETS/lists/partial" "$TARGETS/cache/archives/partial" "$TARGETS/debs"
    # If a list cannot be read, its packages are missing below.
    apt_of_targets apt-get update -qq || true
    (
        cd "$TARGETS/debs"
        apt_of_targets apt-get download -qq \
            "libstd-rust-web-dev:s390x=$version" "libstd-rust-web-dev:i386=$version" "rust-web-src=$version"
    )
    for deb in "$TARGETS/debs"/*.deb; do
        dpkg -x "$deb" "$place/root"
    done
    export RUSTC=$place/rustc
}

targets() {
    local oldest
    # Debian has the oldest Rust of the library for other processors, too.
    oldest=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
    rust_of_targets "$oldest"
    apt-get install -qq --yes --no-install-recommends gcc-s390x-linux-gnu libc6-dev-s390x-cross qemu-user gcc-i686-linux-gnu \
        libc6-dev-i386-cross
    export CARGO_TARGET_S390X_UNKNOWN_LINUX_GNU_LINKER=s390x-linux-gnu-gcc
    export CARGO_TARGET_S390X_UNKNOWN_LINUX_GNU_RUNNER="qemu-s390x -L /usr/s390x-linux-gnu"
    export CARGO_TARGET_I686_UNKNOWN_LINUX_GNU_LINKER=i686-linux-gnu-gcc
    local libraries=/usr/i686-linux-gnu/lib
    export CARGO_TARGET_I686_UNKNOWN_LINUX_GNU_RUNNER="$libraries/ld-linux.so.2 --library-path $libraries"
    local test=(cargo test --locked --target-dir "$TARGETS" -p demeanor --features "serde definition parallel")
    "${test[@]}" --target "$BITS" --test saving --test records --test definition_memory
    # QEMU takes minutes for the tests that compare all rates of ticks and all pairs of files.
    "${test[@]}" --target "$BYTES" --test saving --test records -- \
        --skip timers_last_as_many_ticks_at_every_rate --skip what_is_there_goes_on_as_its_twin
    # Only Rust's own source is built by an option that is not stable.
    RUSTC_BOOTSTRAP=1 cargo build --locked --target-dir "$TARGETS" -p demeanor --no-default-features --target "$BARE" \
        -Z build-std=core,alloc
}
