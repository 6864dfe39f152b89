# Checks that Graphviz, Mermaid and an XML parser can read the tool's pictures. Graphviz is from Debian, and Mermaid from npm.

# pictures TOOL: draws every definition, and parses the pictures with each program. A program that cannot be installed is skipped.
pictures() {
    local tool=$1 place=$PWD/target/pictures file name
    rm -rf "$place/drawn"
    mkdir -p "$place/drawn"
    for file in examples/*/*.toml crates/demeanor-cli/tests/files/*.toml .ci/pictures.toml fuzz/seeds/definition/*.toml; do
        name=$place/drawn/$(basename "$file" .toml)
        # Some of the seeds contain mistakes on purpose.
        "$tool" graph "$file" --format mermaid --output "$name.mmd" 2> /dev/null || continue
        "$tool" graph "$file" --format dot --output "$name.dot"
        "$tool" graph "$file" --format svg --output "$name.svg"
        # Also with the flow of a run. States and exits that the run did not reach are drawn differently.
        "$tool" run "$file" --seconds 20 --flow "$name.json" > /dev/null 2>&1 || continue
        draw_observed "$tool" "$name.observed" "$file" --observed "$name.json"
        draw_observed "$tool" "$name.alone" --observed "$name.json"
    done
    python3 -c '
import sys, xml.dom.minidom
for file in sys.argv[1:]:
    xml.dom.minidom.parse(file)
print("XML parsers read", len(sys.argv) - 1, "files")' "$place"/drawn/*.svg || return 1
    if has_graphviz; then
        for file in "$place"/drawn/*.dot; do
            # A warning counts as a failure, too: for example, that an arrow cannot end at the border of a cluster.
            dot -Tsvg -o /dev/null "$file" 2> "$place/complaints.txt" || { cat "$place/complaints.txt"; return 1; }
            if [ -s "$place/complaints.txt" ]; then
                echo "$file:"
                cat "$place/complaints.txt"
                return 1
            fi
        done
        echo "Graphviz reads $(find "$place/drawn" -name '*.dot' | wc -l) files"
    else
        skip "Graphviz: the Debian package cannot be installed."
    fi
    if has_mermaid "$place"; then
        cp .ci/mermaid.mjs "$place/"
        node "$place/mermaid.mjs" "$place"/drawn/*.mmd || return 1
    else
        skip "Mermaid: node or its packages cannot be installed."
    fi
}

# draw_observed TOOL NAME ARGUMENT..: draws in each format.
draw_observed() {
    local tool=$1 name=$2
    shift 2
    "$tool" graph "$@" --format mermaid --output "$name.mmd" 2> /dev/null
    "$tool" graph "$@" --format dot --output "$name.dot" 2> /dev/null
    "$tool" graph "$@" --format svg --output "$name.svg" 2> /dev/null
}

has_graphviz() {
    command -v dot > /dev/null && return
    [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null || return 1
    apt-get install -qq --yes --no-install-recommends graphviz > /dev/null 2>&1 ||
        { apt-get update -qq && apt-get install -qq --yes --no-install-recommends graphviz; } > /dev/null 2>&1
}

# has_mermaid PLACE: Mermaid's parser needs no browser, only a document.
has_mermaid() {
    command -v node npm > /dev/null || return 1
    [ -d "$1/node_modules/mermaid" ] && [ -d "$1/node_modules/jsdom" ] && return
    timeout 120 npm install --prefix "$1" --no-audit --no-fund --ignore-scripts --silent mermaid@11 jsdom@26 > /dev/null 2>&1
}
