# Finds the oldest Rust that the crate supports.
# If rustup has it, this is used. Otherwise Debian's packages rustc-web and cargo-web are unpacked into target/; this needs no
# installation, and does not affect rustup.

# oldest_rust VERSION: sets OLDEST_RUSTC and OLDEST_CARGO. Fails if this version is not available.
oldest_rust() {
    local version=$1
    if rustup toolchain list | grep -q "^$version-"; then
        OLDEST_RUSTC=$(rustup which --toolchain "$version" rustc)
        OLDEST_CARGO=$(rustup which --toolchain "$version" cargo)
        return
    fi
    local place=$PWD/target/rust-$version
    [ -x "$place/rustc" ] || unpack_debian_rust "$version" "$place" || return 1
    OLDEST_RUSTC=$place/rustc
    OLDEST_CARGO=$place/cargo
}

unpack_debian_rust() {
    local version=$1 place=$2 package debs=$2/debs root=$2/root
    command -v apt-get dpkg > /dev/null || return 1
    package=$(debian_version "$version")
    if [ -z "$package" ] && [ "$(id -u)" = 0 ]; then
        apt-get update -qq || return 1
        package=$(debian_version "$version")
    fi
    [ -n "$package" ] || return 1
    mkdir -p "$debs/partial" "$root"
    apt-get install -qq --yes --no-install-recommends --download-only \
        -o Debug::NoLocking=1 -o APT::Sandbox::User= -o Dir::Cache::archives="$debs" \
        "rustc-web=$package" "cargo-web=$package" "libstd-rust-web-dev=$package" || return 1
    local deb
    for deb in "$debs"/*.deb; do
        dpkg -x "$deb" "$root" || return 1
    done
    local multiarch tool
    multiarch=$(basename "$(dirname "$(find "$root/usr/lib" -name 'libLLVM*.so*' -print -quit)")")
    for tool in cargo rustc; do
        printf '#!/bin/sh\nLD_LIBRARY_PATH=%s exec %s "$@"\n' \
            "$root/usr/lib/$multiarch:$root/lib/$multiarch" "$root/usr/bin/$tool" > "$place/$tool"
        chmod +x "$place/$tool"
    done
}

# debian_version VERSION: prints the version of the package rustc-web that contains this Rust, if there is one.
debian_version() {
    apt-cache madison rustc-web 2> /dev/null | awk -v wanted="$1." 'index($3, wanted) == 1 { print $3; exit }'
}
