"""Names of files, as their senders wrote them, made safe to save, to show and to send on."""

import unicodedata

from workspaces.media.models.media import LONGEST_FILENAME

# What no file system of a receiver takes in a name, or what leads out of a directory.
REFUSED = dict.fromkeys(map(ord, '<>:"|?*'), "_")
# Of file systems that count bytes.
MOST_BYTES = 200
LONGEST_EXTENSION = 16
UNNAMED = "file"


def safe_filename(name: str, *, extension: str = "") -> str:
    """Give the last part of a path without control and directional characters, of at most 200 bytes.

    `extension` is that of a name of which nothing is left.
    """
    last = name.replace("\\", "/").rpartition("/")[2]
    shown = "".join(character for character in unicodedata.normalize("NFC", last) if _is_shown(character))
    clean = " ".join(shown.translate(REFUSED).split()).strip(". ")
    return _shortened(clean) if clean else f"{UNNAMED}{extension}"


def extension_of(name: str) -> str:
    """Give what follows the last full stop, in lower case: `csv`; nothing where that is no extension."""
    stem, stop, extension = name.rpartition(".")
    is_one = bool(stem and stop) and extension.isalnum() and len(extension) <= LONGEST_EXTENSION
    return extension.lower() if is_one else ""


def _is_shown(character: str) -> bool:
    """Say whether a character is more than a command to the screen; white space is kept, to become one space."""
    return character.isspace() or not unicodedata.category(character).startswith("C")


def _shortened(name: str) -> str:
    extension = extension_of(name)
    ending = f".{extension}" if extension else ""
    stem = name[: len(name) - len(ending)] if ending else name
    room = min(MOST_BYTES, LONGEST_FILENAME) - len(ending.encode())
    return stem.encode()[:room].decode(errors="ignore").rstrip(". ") + ending
