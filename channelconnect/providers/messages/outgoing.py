"""An outgoing message for a provider's client. It needs no tables, and serves conversations and broadcasts."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple


class Recipient(NamedTuple):
    """The receiver: the network's id (wa_id, PSID, IGSID), or WhatsApp's business-scoped id, or a phone number."""

    external_id: str | None = None
    user_id: str | None = None
    phone: str | None = None

    @property
    def is_reachable(self) -> bool:
        return bool(self.external_id or self.user_id or self.phone)


class OutgoingFile(NamedTuple):
    """A file to send. The provider fetches it from `link`, or has it as `provider_id` from an earlier upload.

    `media` is the id of our row if the file can be uploaded, and `size` is its size in bytes.
    """

    kind: str  # image, video, audio, document or sticker
    filename: str = ""
    link: str = ""
    provider_id: str = ""
    media: int | None = None
    size: int = 0


# This type is no message: it tells a person that their message `reply_to` and all earlier ones were read.
READ = "read"


class OutgoingMessage(NamedTuple):
    """A message to send. `opaque` is our id, which each status repeats; `template` is {name, language, components}."""

    opaque: str
    to: Recipient
    type: str
    text: str = ""
    file: OutgoingFile | None = None
    template: Mapping[str, Any] | None = None
    interactive: Mapping[str, Any] | None = None
    reply_to: str = ""
    reaction_to: str = ""


Components = Sequence[Mapping[str, Any]]
