"""The files that the product uploads, and those that come with messages of people."""

import base64
import hashlib
import secrets
import threading
from dataclasses import dataclass, field
from typing import Any, Final

# A valid picture: a red dot.
PNG: Final = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg=="
)
FAULTS: Final = ("", "expired", "wrong-sha256", "false-type", "too-large", "slow", "redirect", "gone")


@dataclass(slots=True, kw_only=True)
class File:
    """`fault` is what goes wrong when the file is fetched. A `size` repeats or cuts the content to that size."""

    content: bytes
    content_type: str
    filename: str = ""
    fault: str = ""
    size: int = 0
    urls: dict[str, float] = field(default_factory=dict)

    @property
    def whole(self) -> bytes:
        """The bytes that are fetched: `size` of them, or the content."""
        return (self.content * -(-self.size // len(self.content)))[: self.size] if self.size else self.content

    @property
    def sha256(self) -> str:
        digest = hashlib.sha256(b"something else" if self.fault == "wrong-sha256" else self.whole)
        return base64.b64encode(digest.digest()).decode()


class MediaStore:
    """Uploads and received files, by their ids."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.uploads: dict[str, File] = {}
        self.received: dict[str, File] = {}
        self.fetches: list[str] = []

    def clear(self) -> None:
        with self.lock:
            self.uploads.clear()
            self.received.clear()
            self.fetches.clear()

    def receive(self, given: dict[str, Any]) -> tuple[str, File]:
        """Keep a file that a person sends: `content` in base64, `content_type`, `filename`, `fault`, `size`."""
        content = base64.b64decode(given["content"]) if given.get("content") else PNG
        if given.get("fault", "") not in FAULTS:
            raise ValueError(f"A file's fault is one of {', '.join(FAULTS)}.")
        file = File(
            content=content,
            content_type=str(given.get("content_type", "image/png")),
            filename=str(given.get("filename", "")),
            fault=str(given.get("fault", "")),
            size=int(given.get("size", 0)),
        )
        media_id = str(secrets.randbelow(10**15) + 10**15)
        with self.lock:
            self.received[media_id] = file
        return media_id, file
