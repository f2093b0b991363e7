"""The service's own automations and packs as data files, which are read once and checked at the start."""

from packs.library.loading import Industry, Library, LibraryItem, PlatformEntry, PlatformPack, library

__all__ = ["Industry", "Library", "LibraryItem", "PlatformEntry", "PlatformPack", "library"]
