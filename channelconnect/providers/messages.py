"""An outgoing message: its JSON body for each network, and the address and headers of its call."""

import hashlib
import hmac
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from channelconnect.providers.settings import ProviderSettings

# An outgoing message needs no tables, and serves conversations and broadcasts.


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


Body = dict[str, Any]
# WhatsApp shows a text below these. Of files sent as a link, only a document shows its name.
CAPTIONED: Final = frozenset({"image", "video", "document"})
# The Send API's names for types of files.
ATTACHMENTS: Final = {"image": "image", "video": "video", "audio": "audio", "document": "file", "sticker": "image"}
MESSENGER: Final = ("facebook", "instagram")
LONGEST_METADATA: Final = 999


class UnwritableMessage(ValueError):
    """This network has no form for the message."""


def body_of(platform: str, message: OutgoingMessage) -> Body:
    """Build a message's body. Raises `UnwritableMessage`."""
    if not message.to.is_reachable:
        raise UnwritableMessage("no address")
    if message.type == READ:
        return read_mark(platform, message_id=message.reply_to, person=message.to.external_id or "")
    if platform == "whatsapp":
        return _whatsapp(message)
    if platform in MESSENGER:
        return _page(platform, message)
    raise UnwritableMessage(platform)


# WhatsApp ---------------------------------------------------------------------------------------------


def _whatsapp(message: OutgoingMessage) -> Body:
    kind = "interactive" if message.interactive else message.type
    write = WHATSAPP.get(kind)
    if write is None:
        raise UnwritableMessage(kind)
    body: Body = {"messaging_product": "whatsapp", "recipient_type": "individual", **_address(message.to)}
    if message.opaque:
        body["biz_opaque_callback_data"] = message.opaque
    if message.reply_to and kind != "reaction":
        body["context"] = {"message_id": message.reply_to}
    body["type"] = kind
    body[kind] = write(message)
    return body


def _address(to: Recipient) -> Body:
    """Address a number with `+`, or WhatsApp adds the business's country code; address a hidden number by its id."""
    number = to.external_id or to.phone
    if number:
        return {"to": f"+{number.removeprefix('+')}"}
    return {"recipient": to.user_id}


def _text(message: OutgoingMessage) -> Body:
    return {"body": message.text, "preview_url": "https://" in message.text}


def _media(message: OutgoingMessage) -> Body:
    file = _file(message)
    body: Body = {"id": file.provider_id} if file.provider_id else {"link": file.link}
    if message.text and file.kind in CAPTIONED:
        body["caption"] = message.text
    if file.kind == "document" and file.filename:
        body["filename"] = file.filename
    return body


def _template(message: OutgoingMessage) -> Body:
    template = _required(message.template)
    body: Body = {"name": template["name"], "language": {"code": template["language"]}}
    if template.get("components"):
        body["components"] = template["components"]
    return body


def _interactive(message: OutgoingMessage) -> Body:
    return dict(_required(message.interactive))


def _reaction(message: OutgoingMessage) -> Body:
    return {"message_id": message.reaction_to, "emoji": message.text}


WHATSAPP: Final[dict[str, Callable[[OutgoingMessage], Body]]] = {
    "text": _text,
    **dict.fromkeys(("image", "video", "audio", "document", "sticker"), _media),
    "template": _template,
    "interactive": _interactive,
    "reaction": _reaction,
}


# Messenger and Instagram ------------------------------------------------------------------------------


def _page(platform: str, message: OutgoingMessage) -> Body:
    body: Body = {"recipient": {"id": message.to.external_id}}
    if not message.to.external_id:
        raise UnwritableMessage("no address")
    if platform == "facebook":
        body["messaging_type"] = "RESPONSE"
    content = _page_content(message)
    if message.opaque:
        content["metadata"] = message.opaque[:LONGEST_METADATA]
    if message.reply_to:
        content["reply_to"] = {"mid": message.reply_to}
    return {**body, "message": content}


def _page_content(message: OutgoingMessage) -> Body:
    if message.type == "text":
        return {"text": message.text}
    if message.type in ATTACHMENTS:
        file = _file(message)
        attachment = {"type": ATTACHMENTS[file.kind], "payload": {"url": file.link, "is_reusable": False}}
        return {"attachment": attachment}
    raise UnwritableMessage(message.type)


def _file(message: OutgoingMessage) -> OutgoingFile:
    if message.file is None or not (message.file.link or message.file.provider_id):
        raise UnwritableMessage("no file")
    return message.file


def _required(value: Mapping[str, Any] | None) -> Mapping[str, Any]:
    if value is None:
        raise UnwritableMessage("nothing to send")
    return value


# Marks ------------------------------------------------------------------------------------------------


def read_mark(platform: str, *, message_id: str, person: str) -> Body:
    """Show a person that this message and all earlier ones were read."""
    if platform == "whatsapp":
        return {"messaging_product": "whatsapp", "status": "read", "message_id": message_id}
    return {"recipient": {"id": person}, "sender_action": "mark_seen"}


def typing_mark(platform: str, *, message_id: str, person: str) -> Body:
    """Show a person that an answer is being written. On WhatsApp this also marks their message as read."""
    if platform == "whatsapp":
        typing = {"typing_indicator": {"type": "text"}}
        return read_mark(platform, message_id=message_id, person=person) | typing
    return {"recipient": {"id": person}, "sender_action": "typing_on"}


class MessagesEndpoint(NamedTuple):
    """The address for a channel's messages. The token is in a header, and its proof in the address."""

    url: str
    headers: tuple[tuple[str, str], ...]

    def __repr__(self) -> str:
        return "MessagesEndpoint()"


def messages_endpoint(settings: ProviderSettings, *, sender_id: str, token: str) -> MessagesEndpoint:
    """Return the messages endpoint of a number or a Page, whose id is `sender_id`."""
    proof = proof_of(settings.app_secret, token)
    url = f"{settings.graph_url}/{settings.version}/{sender_id}/messages?appsecret_proof={proof}"
    headers = (
        ("Authorization", f"Bearer {token}"),
        ("Content-Type", "application/json"),
        ("Accept", "application/json"),
    )
    return MessagesEndpoint(url, headers)


def proof_of(app_secret: str, token: str) -> str:
    """Return the proof that the token's bearer is the app."""
    return hmac.new(app_secret.encode(), token.encode(), hashlib.sha256).hexdigest()
