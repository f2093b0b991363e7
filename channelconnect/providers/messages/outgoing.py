"""A message as a provider's client takes it: free of tables, the same for conversations and broadcasts."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple


class Recipient(NamedTuple):
    """Who gets it: the network's id (wa_id, PSID, IGSID), else WhatsApp's business-scoped id, else a phone number."""

    external_id: str | None = None
    user_id: str | None = None
    phone: str | None = None

    @property
    def is_reachable(self) -> bool:
        return bool(self.external_id or self.user_id or self.phone)


class OutgoingFile(NamedTuple):
    """`link` is where the provider fetches it; `provider_id` stands for it where it was uploaded before.

    `media` is the number of our own row, where it can be uploaded, and `size` that file's bytes.
    """

    kind: str  # image, video, audio, document or sticker
    filename: str = ""
    link: str = ""
    provider_id: str = ""
    media: int | None = None
    size: int = 0


# The type of what is no message: it tells a person that theirs, `reply_to`, and those before it were read.
READ = "read"


class OutgoingMessage(NamedTuple):
    """`opaque` is our id, which the provider gives back in each status; `template` is {name, language, components}."""

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
