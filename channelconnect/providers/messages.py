"""An outgoing message: its JSON body for each network, and the address and headers of its call."""

import hashlib
import hmac
import re
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
    """A message to send. `opaque` is our id, which each status repeats; `template` is {name, language, components}.

    `interactive` has the form of `interactive_content`. `comment` is the network's id of the comment that the message
    answers in private, `public_comment` that of the comment below which its text is published.
    """

    opaque: str
    to: Recipient
    type: str
    text: str = ""
    file: OutgoingFile | None = None
    template: Mapping[str, object] | None = None
    interactive: Mapping[str, Any] | None = None
    reply_to: str = ""
    reaction_to: str = ""
    comment: str = ""
    public_comment: str = ""

    @property
    def answers_comment(self) -> bool:
        return bool(self.comment or self.public_comment)

    @property
    def has_address(self) -> bool:
        return self.answers_comment or self.to.is_reachable


Components = Sequence[Mapping[str, object]]


Body = dict[str, object]
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
    if not message.has_address:
        raise UnwritableMessage("no address")
    if message.type == READ:
        return read_mark(platform, message_id=message.reply_to, person=message.to.external_id or "")
    if message.public_comment:
        return _public_reply(platform, message)
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
    form = _required(message.interactive)
    style, action = INTERACTIVE[form["style"]]
    body: Body = {"type": style, "body": {"text": message.text}, "action": action(form)}
    if form.get("footer"):
        body["footer"] = {"text": form["footer"]}
    return body


def _buttons(form: Mapping[str, Any]) -> Body:
    replies = [{"id": one["payload"], "title": one["title"]} for one in form["options"]]
    return {"buttons": [{"type": "reply", "reply": reply} for reply in replies]}


def _list(form: Mapping[str, Any]) -> Body:
    rows = [
        {"id": one["payload"], "title": one["title"]}
        | ({"description": one["description"]} if one.get("description") else {})
        for one in form["options"]
    ]
    return {"button": form["list_button"], "sections": [{"rows": rows}]}


def _link(form: Mapping[str, Any]) -> Body:
    return {"name": "cta_url", "parameters": {"display_text": form["button"], "url": form["url"]}}


# WhatsApp's name for each style, and what writes its action.
INTERACTIVE: Final[dict[str, tuple[str, Callable[[Mapping[str, Any]], Body]]]] = {
    "buttons": ("button", _buttons),
    "list": ("list", _list),
    "link": ("cta_url", _link),
}


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
    body: Body = {"recipient": _page_recipient(message)}
    if platform == "facebook":
        body["messaging_type"] = "RESPONSE"
    content = _page_content(message)
    if message.opaque:
        content["metadata"] = message.opaque[:LONGEST_METADATA]
    if message.reply_to:
        content["reply_to"] = {"mid": message.reply_to}
    return {**body, "message": content}


def _page_recipient(message: OutgoingMessage) -> Body:
    if message.comment:
        return {"comment_id": message.comment}
    if not message.to.external_id:
        raise UnwritableMessage("no address")
    return {"id": message.to.external_id}


def _page_content(message: OutgoingMessage) -> Body:
    if message.interactive:
        return _page_interactive(message.text, message.interactive)
    if message.type == "text":
        return {"text": message.text}
    if message.type in ATTACHMENTS:
        file = _file(message)
        attachment = {"type": ATTACHMENTS[file.kind], "payload": {"url": file.link, "is_reusable": False}}
        return {"attachment": attachment}
    raise UnwritableMessage(message.type)


def _page_interactive(text: str, form: Mapping[str, Any]) -> Body:
    """Write quick replies below a text, or a text with buttons that stay."""
    if form["style"] == "quick_replies":
        replies = [
            {"content_type": "text", "title": one["title"], "payload": one["payload"]} for one in form["options"]
        ]
        return {"text": text, "quick_replies": replies}
    if form["style"] == "link":
        buttons = [{"type": "web_url", "title": form["button"], "url": form["url"]}]
    else:
        buttons = [{"type": "postback", "title": one["title"], "payload": one["payload"]} for one in form["options"]]
    payload = {"template_type": "button", "text": text, "buttons": buttons}
    return {"attachment": {"type": "template", "payload": payload}}


def _public_reply(platform: str, message: OutgoingMessage) -> Body:
    if platform not in MESSENGER or message.type != "text":
        raise UnwritableMessage("no public reply")
    return {"message": message.text}


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


COMMENT_ID: Final = re.compile(r"[0-9A-Za-z_-]{1,128}")
# The edge of a comment to which public replies go.
REPLIES: Final = {"facebook": "comments", "instagram": "replies"}


def path_of(platform: str, message: OutgoingMessage, sender_id: str) -> str:
    """Return the path to which a message of a number or a Page goes. Raises `UnwritableMessage`."""
    if not message.public_comment:
        return f"{sender_id}/messages"
    if platform not in REPLIES or not COMMENT_ID.fullmatch(message.public_comment):
        raise UnwritableMessage("no public reply")
    return f"{message.public_comment}/{REPLIES[platform]}"


def messages_endpoint(settings: ProviderSettings, *, path: str, token: str) -> MessagesEndpoint:
    """Return the endpoint with this path, such as `<id of a number or Page>/messages`."""
    proof = proof_of(settings.app_secret, token)
    url = f"{settings.graph_url}/{settings.version}/{path}?appsecret_proof={proof}"
    headers = (
        ("Authorization", f"Bearer {token}"),
        ("Content-Type", "application/json"),
        ("Accept", "application/json"),
    )
    return MessagesEndpoint(url, headers)


def proof_of(app_secret: str, token: str) -> str:
    """Return the proof that the token's bearer is the app."""
    return hmac.new(app_secret.encode(), token.encode(), hashlib.sha256).hexdigest()
