# Builds the text editor of the studio's page, which is checked in so that `cargo install` needs no node, and compares both.

# studio_editor: skipped if npm cannot install the packages. With WRITE=1 it replaces what is checked in.
studio_editor() {
    local vendor=crates/demeanor-cli/studio/vendor place=$PWD/target/studio_editor
    mkdir -p "$place"
    cp "$vendor"/package.json "$vendor"/package-lock.json "$vendor"/editor.js "$place/"
    if ! timeout 120 npm ci --prefix "$place" --no-audit --no-fund --ignore-scripts --silent > /dev/null 2>&1; then
        skip "the text editor of the studio: node or its packages cannot be installed."
        return
    fi
    (cd "$place" && node_modules/.bin/esbuild editor.js --bundle --format=esm --minify --legal-comments=none --log-level=warning --outfile=codemirror.js)
    licenses "$place" > "$place/codemirror.LICENSE"
    local built
    for built in codemirror.js codemirror.LICENSE; do
        if [ "${WRITE:-}" = 1 ]; then cp "$place/$built" "$vendor/"; fi
        cmp "$place/$built" "$vendor/$built"
    done
}

# licenses PLACE: prints the license of each package that is part of the editor.
licenses() {
    local license
    printf 'codemirror.js is built from these packages, which have the MIT license.\n'
    (cd "$1/node_modules" && for license in @codemirror/*/LICENSE @lezer/*/LICENSE @marijn/*/LICENSE crelt/LICENSE style-mod/LICENSE w3c-keyname/LICENSE; do
        printf '\n== %s\n\n' "${license%/LICENSE}"
        cat "$license"
    done)
}
