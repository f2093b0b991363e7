"""Counts the bytes that a browser with an empty cache fetches until it paints a page."""

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
# The files that a stylesheet or a module fetches.
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
    """Add the bytes of the page and of all files that it needs, compressed as they are served."""
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
    """Give the size of a file as served: static files are compressed if that helps, others are not."""
    if not address.startswith(STATIC) or not Compressor().should_compress(address):
        return len(content)
    return min(len(content), len(gzip.compress(content, 9)))
