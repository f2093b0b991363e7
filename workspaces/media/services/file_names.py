"""File names from senders, made safe to save, to show and to send on."""

import unicodedata

from workspaces.media.models import LONGEST_FILENAME

# Characters that a receiver's file system may refuse in a name, or that may lead out of a directory.
REFUSED = dict.fromkeys(map(ord, '<>:"|?*'), "_")
# The limit of file systems that count a name's bytes.
MOST_BYTES = 200
LONGEST_EXTENSION = 16
UNNAMED = "file"


def safe_filename(name: str, *, extension: str = "") -> str:
    """Give the last part of a path without control and directional characters, of at most 200 bytes.

    If nothing of the name is left, it becomes `file` with `extension`.
    """
    last = name.replace("\\", "/").rpartition("/")[2]
    shown = "".join(character for character in unicodedata.normalize("NFC", last) if _is_shown(character))
    clean = " ".join(shown.translate(REFUSED).split()).strip(". ")
    return _shortened(clean) if clean else f"{UNNAMED}{extension}"


def extension_of(name: str) -> str:
    """Give the extension in lower case, such as `csv`; empty if the name has none."""
    stem, stop, extension = name.rpartition(".")
    is_one = bool(stem and stop) and extension.isalnum() and len(extension) <= LONGEST_EXTENSION
    return extension.lower() if is_one else ""


def _is_shown(character: str) -> bool:
    """Say whether a character can be shown. White space counts, because it becomes a single space later."""
    return character.isspace() or not unicodedata.category(character).startswith("C")


def _shortened(name: str) -> str:
    extension = extension_of(name)
    ending = f".{extension}" if extension else ""
    stem = name[: len(name) - len(ending)] if ending else name
    room = min(MOST_BYTES, LONGEST_FILENAME) - len(ending.encode())
    return stem.encode()[:room].decode(errors="ignore").rstrip(". ") + ending
