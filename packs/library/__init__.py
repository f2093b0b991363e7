"""The service's own automations and packs: data files, read once and checked before anything starts."""

from packs.library.industries import Industry
from packs.library.loading import Library, LibraryItem, PlatformEntry, PlatformPack, library

__all__ = ["Industry", "Library", "LibraryItem", "PlatformEntry", "PlatformPack", "library"]
