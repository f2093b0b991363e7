"""Models of files."""

from workspaces.media.models.media import Media, MediaQuerySet
from workspaces.media.models.unused_files import UnusedFile

__all__ = ["Media", "MediaQuerySet", "UnusedFile"]
