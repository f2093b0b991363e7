"""Tells the media app which files messages use, and removes the files of removed messages."""

from collections.abc import Collection
from datetime import datetime

from django.db.models import Exists, OuterRef

from workspaces.conversations.models import Message, QueuedMessage
from workspaces.media.models import Media, MediaQuerySet
from workspaces.media.services import MediaUse, remove_unneeded_media

BATCH = 1_000


def message_needing(media: Media) -> str | None:
    """Return a name for a queued message that needs the file, or None. A sent message does not need it."""
    waiting = QueuedMessage.objects.filter(message__media=media)
    return "a message that is still to be sent" if waiting.exists() else None


def media_in_messages(media: MediaQuerySet) -> MediaQuerySet:
    """Keep the files that belong to a message."""
    return media.filter(Exists(Message.objects.filter(media=OuterRef("pk"))))


def remove_media_of_messages(media: Collection[int | None], *, now: datetime) -> None:
    """Remove the files of removed or emptied messages, unless something else needs them."""
    ids = sorted({one for one in media if one is not None})
    for start in range(0, len(ids), BATCH):
        remove_unneeded_media(media=ids[start : start + BATCH], now=now)


MEDIA_USE = MediaUse("messages", message_needing, media_in_messages)
