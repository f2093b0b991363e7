"""Tables of media."""

from workspaces.media.models.media import Media

__all__ = ["Media"]
