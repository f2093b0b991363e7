"""How many bytes a browser without anything in its cache fetches until a page is painted."""

import gzip
import re
from functools import cache
from html.parser import HTMLParser
from pathlib import PurePosixPath
from typing import Final
from urllib.parse import urldefrag, urljoin

from django.contrib.staticfiles import finders
from django.test import Client
from whitenoise.compress import Compressor

STATIC: Final = "/static/"
FETCHED: Final = {"link": "href", "script": "src", "img": "src", "use": "href"}
PAINTED_RELATIONS: Final = {"stylesheet", "icon", "preload", "modulepreload"}
# What a stylesheet or a module fetches in turn.
NAMED = re.compile(r"""url\(["']?([^"')]+)["']?\)|(?:import|from)\s*["']([^"']+)["']|import\(["']([^"']+)["']\)""")


class References(HTMLParser):
    """The addresses that a page makes a browser fetch."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag == "link" and not PAINTED_RELATIONS & set((values.get("rel") or "").split()):
            return
        address = values.get(FETCHED.get(tag, ""))
        if address:
            self.found.add(urldefrag(address).url)


def transferred(browser: Client, page: bytes) -> int:
    """Add the page's own bytes and those of all that it names, compressed as they are served."""
    waiting, seen, total = References(page.decode()).found, set[str](), len(page)
    while waiting:
        address = waiting.pop()
        if not address.startswith("/") or address in seen:
            continue
        seen.add(address)
        content = static_file(address) if address.startswith(STATIC) else browser.get(address).getvalue()
        total += served_bytes(address, content)
        if PurePosixPath(address).suffix in {".css", ".js"}:
            named = ("".join(match) for match in NAMED.findall(content.decode()))
            waiting |= {urldefrag(urljoin(address, one)).url for one in named if not one.startswith("data:")}
    return total


@cache
def static_file(address: str) -> bytes:
    path = finders.find(address.removeprefix(STATIC))
    if not isinstance(path, str):
        raise FileNotFoundError(address)
    with open(path, "rb") as file:
        return file.read()


def served_bytes(address: str, content: bytes) -> int:
    """Static files are compressed beforehand where that helps; all else goes as it is."""
    if not address.startswith(STATIC) or not Compressor().should_compress(address):
        return len(content)
    return min(len(content), len(gzip.compress(content, 9)))
