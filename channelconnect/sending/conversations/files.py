"""The files of outgoing messages, with the links from which the provider fetches them."""

from collections.abc import Iterable
from typing import Final

from channelconnect.providers.messages import OutgoingFile
from workspaces.media.models import Media

KINDS: Final = ("image", "video", "audio")


def files_of(ids: Iterable[int]) -> dict[int, OutgoingFile]:
    """Return the files of these media by their ids."""
    wanted = list(ids)
    return {media.pk: _file(media) for media in Media.objects.filter(pk__in=wanted).with_agency()} if wanted else {}


def _file(media: Media) -> OutgoingFile:
    kind = media.content_type.partition("/")[0]
    known = kind if kind in KINDS else "document"
    return OutgoingFile(kind=known, filename=media.filename, link=media.url, media=media.pk, size=media.size)
