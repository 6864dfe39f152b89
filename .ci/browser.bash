# Tests the pages of the inspector and of the studio in a real browser: Chromium from Debian, controlled by puppeteer-core from npm.

# browser TEST PROGRAM..: runs the test with these programs, whose page it opens. Skipped if the browser cannot be installed.
browser() {
    local test=$1 place=$PWD/target/browser chromium
    shift
    mkdir -p "$place"
    if ! chromium=$(find_chromium); then
        skip "a browser: the Debian package cannot be installed."
    elif ! has_puppeteer "$place"; then
        skip "a browser: node or its packages cannot be installed."
    else
        cp .ci/window.mjs "${test%/*}"/*.mjs "$place/"
        timeout 300 node "$place/${test##*/}" "$@" "$chromium"
    fi
}

find_chromium() {
    command -v chromium && return
    [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null || return 1
    local install=(apt-get install -qq --yes --no-install-recommends chromium)
    { "${install[@]}" || { apt-get update -qq && "${install[@]}"; }; } > /dev/null 2>&1
    command -v chromium
}

# has_puppeteer PLACE: installs puppeteer-core, which does not download a browser.
has_puppeteer() {
    command -v node npm > /dev/null || return 1
    [ -d "$1/node_modules/puppeteer-core" ] && return
    timeout 120 npm install --prefix "$1" --no-audit --no-fund --ignore-scripts --silent puppeteer-core@25 > /dev/null 2>&1
}
