"""Checks links without using the network: the file must exist, and the place in it.

    links.py pages            the relative links of all Markdown pages of the repository
    links.py html FOLDER..    the links of the HTML pages in folders that rustdoc has written
"""

import re
import subprocess
import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


# Links that rustdoc copies from the docs of `tracing` and of Bevy's reflection, and that are relative to these; the hidden
# modules of `mockall`; and a script that exists only for traits with impls outside of their module.
FOREIGN = re.compile(r"dispatcher#|__mock_\w+/|.*/trait\.impl/|(Reflect|TypeInfo|TypePath)(#|$)")


class Page(HTMLParser):
    """The places of an HTML page, and its links."""

    def __init__(self):
        super().__init__()
        self.places = set()
        self.links = []
        # The page to which this page redirects, if any.
        self.sends_to = None

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.places.update(unquote(attributes[key]) for key in ("id", "name") if attributes.get(key))
        self.links.extend(attributes[key] for key in ("href", "src") if attributes.get(key))
        if tag == "meta" and attributes.get("http-equiv") == "refresh":
            self.sends_to = attributes["content"].partition("URL=")[2]


def without_code(text):
    text = re.sub(r"^( *)(```+).*?^\1\2", "", text, flags=re.M | re.S)
    return re.sub(r"(`+)[^`].*?\1", "", text, flags=re.S)


def slug(heading):
    """Returns the name of a heading in a link."""
    heading = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


@cache
def markdown(path):
    text = path.read_text(encoding="utf-8")
    page = Page()
    page.feed(without_code(text))
    fenceless = re.sub(r"^( *)(```+).*?^\1\2", "", text, flags=re.M | re.S)
    for heading in re.findall(r"^#+ (.*)$", fenceless, flags=re.M):
        same = slug(heading)
        number = 0
        while same in page.places:
            number += 1
            same = f"{slug(heading)}-{number}"
        page.places.add(same)
    page.links += re.findall(r"\]\(<?([^)\s>]+)", without_code(text))
    page.links += re.findall(r"^\[[^]]+\]: <?([^\s>]+)", without_code(text), flags=re.M)
    return page


@cache
def html(path):
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def read(path):
    return markdown(path) if path.suffix == ".md" else html(path)


def broken(path):
    """Returns the problems with the links of a page."""
    for link in read(path).links:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc or FOREIGN.match(link):
            continue
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        if target.is_dir() and path.suffix == ".html":
            target /= "index.html"
        if not target.exists():
            yield f"{path}: {link}: there is no {target}"
        # Anchors of source lines and of the search are handled by rustdoc's own scripts.
        elif parts.fragment and target.suffix in (".md", ".html") and "src" not in target.parts:
            while read(target).sends_to:
                target = (target.parent / unquote(read(target).sends_to)).resolve()
            if unquote(parts.fragment) not in read(target).places:
                yield f"{path}: {link}: {target.name} has no place of this name"


def main():
    if sys.argv[1:] == ["pages"]:
        listed = subprocess.run(["git", "ls-files", "-z", "*.md"], check=True, capture_output=True, text=True)
        paths = [Path(name) for name in listed.stdout.split("\0") if name]
    elif sys.argv[1:2] == ["html"] and sys.argv[2:]:
        paths = [path for folder in sys.argv[2:] for path in sorted(Path(folder).rglob("*.html"))]
    else:
        sys.exit(__doc__)
    paths = [path.resolve() for path in paths]
    found = [problem for path in paths for problem in broken(path)]
    print(*found, f"{len(paths)} pages, {len(found)} broken links", sep="\n")
    sys.exit(bool(found) or not paths)


main()
