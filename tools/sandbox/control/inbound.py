"""Composes people's messages as the networks report them: every kind of WhatsApp, Messenger and Instagram."""

import json
import secrets
import time
from collections.abc import Callable
from typing import Any, Final

Body = dict[str, Any]
MEDIA: Final = ("image", "video", "audio", "document", "sticker")
CAPTIONED: Final = ("image", "video", "document")
LOCATION: Final = {"latitude": 52.52, "longitude": 13.4, "name": "Office", "address": "Street 1"}
CARD: Final = {"name": {"formatted_name": "Ben Sample", "first_name": "Ben"}, "phones": [{"phone": "+49301234"}]}
POSTBACK: Final = {"title": "Start", "payload": "GET_STARTED"}


# WhatsApp ---------------------------------------------------------------------------------------------


def whatsapp_message(options: Body) -> Body:
    """Compose one entry of `messages` with its `contacts`. `type` is its kind, `text` its text, caption or title."""
    kind = str(options.get("type", "text"))
    person, user_id = str(options.get("person", "")), str(options.get("user_id", ""))
    message: Body = {
        "id": str(options.get("id") or "wamid." + secrets.token_hex(8)),
        "timestamp": str(int(options.get("at") or time.time())),
        "type": kind,
        **({"from": person} if person else {}),
        **({"from_user_id": user_id} if user_id else {}),
    }
    message |= WHATSAPP[kind](options)
    if options.get("reply_to"):
        message["context"] = {"id": str(options["reply_to"])}
    message |= {name: options[name] for name in ("referral", "group_id") if name in options}
    contact: Body = {"profile": {"name": str(options.get("name", "Ann"))}}
    contact |= {"wa_id": person} if person else {}
    contact |= {"user_id": user_id} if user_id else {}
    return {"contacts": [contact], "messages": [message]}


def _media(kind: str) -> Callable[[Body], Body]:
    def write(options: Body) -> Body:
        file = options["file"]
        content = {"id": file["id"], "mime_type": file["content_type"], "sha256": file["sha256"]}
        if kind in CAPTIONED and options.get("text"):
            content["caption"] = str(options["text"])
        if kind == "document":
            content["filename"] = file.get("filename") or "document"
        return {kind: content | ({"voice": True} if kind == "audio" else {})}

    return write


def _interactive(options: Body) -> Body:
    answer = str(options.get("answer", "button_reply"))
    title, payload = str(options.get("text", "Yes")), str(options.get("payload", "yes"))
    if answer == "nfm_reply":
        content: Body = {"name": "flow", "body": "Sent", "response_json": json.dumps(options.get("fields", {"a": "b"}))}
    else:
        content = {"id": payload, "title": title}
    return {"interactive": {"type": answer, answer: content}}


WHATSAPP: Final[dict[str, Callable[[Body], Body]]] = {
    "text": lambda options: {"text": {"body": str(options.get("text", "Hi \u00e9"))}},
    **{kind: _media(kind) for kind in MEDIA},
    "location": lambda options: {"location": options.get("location", LOCATION)},
    "contacts": lambda options: {"contacts": [options.get("card", CARD)]},
    "interactive": _interactive,
    "button": lambda options: {
        "button": {"text": str(options.get("text", "Stop")), "payload": str(options.get("payload", "STOP"))}
    },
    "reaction": lambda options: {
        "reaction": {"message_id": str(options["target"]), "emoji": str(options.get("text", "\U0001f44d"))}
    },
    "order": lambda options: {
        "order": {
            "catalog_id": "1",
            "text": str(options.get("text", "")),
            "product_items": [{"product_retailer_id": "A1", "quantity": 1, "item_price": 9.9, "currency": "EUR"}],
        }
    },
    "system": lambda options: {
        "system": {
            "type": str(options.get("event", "user_changed_number")),
            "body": "changed",
            "wa_id": str(options.get("becomes", "")),
        }
    },
    "unsupported": lambda options: {
        "errors": [{"code": 131051, "title": "Message type is not supported."}],
        "unsupported": {"type": str(options.get("unsupported", "poll"))},
    },
    "edit": lambda options: {
        "edit": {
            "original_message_id": str(options["target"]),
            "message": {"type": "text", "text": {"body": str(options.get("text", ""))}},
        }
    },
    "revoke": lambda options: {"revoke": {"original_message_id": str(options["target"])}},
}


# Messenger and Instagram ------------------------------------------------------------------------------


def page_event(options: Body) -> Body:
    """Compose an event of `messaging` without sender, recipient and time. `type` is its kind."""
    kind = str(options.get("type", "text"))
    mid = str(options.get("id") or "m_" + secrets.token_hex(8))
    return PAGE[kind](options, mid)


def _message_of(**content: Any) -> Callable[[Body, str], Body]:
    def write(options: Body, mid: str) -> Body:
        message: Body = {"mid": mid, **content}
        if options.get("reply_to"):
            message["reply_to"] = {"mid": str(options["reply_to"])}
        return {"message": message}

    return write


def _attachment(kind: str) -> Callable[[Body, str], Body]:
    def write(options: Body, mid: str) -> Body:
        url = options["file"]["url"] if "file" in options else "https://scontent.fbcdn.net/gone"
        return _message_of(attachments=[{"type": kind, "payload": {"url": url}}])(options, mid)

    return write


def _text(options: Body, mid: str) -> Body:
    return _message_of(text=str(options.get("text", "Hi \u00e9")), **_referral_of(options))(options, mid)


def _quick_reply(options: Body, mid: str) -> Body:
    payload = {"payload": str(options.get("payload", "yes"))}
    return _message_of(text=str(options.get("text", "Yes")), quick_reply=payload)(options, mid)


def _echo(options: Body, mid: str) -> Body:
    """Compose a message that another app has sent. `_page_events` swaps its sender and recipient."""
    app = str(options.get("app_id", "26390203743090"))
    return _message_of(text=str(options.get("text", "Sent elsewhere")), is_echo=True, app_id=app)(options, mid)


def _reaction(options: Body, mid: str) -> Body:
    action = "unreact" if options.get("text") == "" else "react"
    emoji = str(options.get("text", "\u2764"))
    return {"reaction": {"mid": str(options["target"]), "action": action, "emoji": emoji, "reaction": "love"}}


def _story_reply(options: Body, mid: str) -> Body:
    story = {"id": str(options.get("target", "17900000000000001")), "url": "https://lookaside.fbsbx.com/story"}
    message = {"mid": mid, "text": str(options.get("text", "Wow")), "reply_to": {"story": story}}
    return {"message": message}


def _postback(options: Body, mid: str) -> Body:
    title, payload = options.get("text", POSTBACK["title"]), options.get("payload", POSTBACK["payload"])
    return {"postback": {"mid": mid, "title": str(title), "payload": str(payload), **_referral_of(options)}}


def _referral(options: Body, mid: str) -> Body:
    return {"referral": options.get("referral", {"ref": "campaign", "source": "SHORTLINK", "type": "OPEN_THREAD"})}


def _referral_of(options: Body) -> Body:
    return {"referral": options["referral"]} if "referral" in options else {}


PAGE: Final[dict[str, Callable[[Body, str], Body]]] = {
    "text": _text,
    **{kind: _attachment(kind) for kind in ("image", "video", "audio", "file", "sticker", "share", "reel")},
    "story_mention": _attachment("story_mention"),
    "quick_reply": _quick_reply,
    "story_reply": _story_reply,
    "postback": _postback,
    "referral": _referral,
    "reaction": _reaction,
    "edit": lambda options, mid: {
        "message_edit": {"mid": str(options["target"]), "text": str(options.get("text", "")), "num_edit": 1}
    },
    "unsend": lambda options, mid: {"message": {"mid": str(options["target"]), "is_deleted": True}},
    "unsupported": _message_of(is_unsupported=True),
    "echo": _echo,
    "read": lambda options, mid: {
        "read": {"mid": str(options["target"])} if options.get("target") else {"watermark": int(time.time() * 1000)}
    },
}


# Comments ---------------------------------------------------------------------------------------------

POST: Final = "1001"


def comment_change(options: Body) -> Body:
    """Compose an entry of `changes` about a comment."""
    number = str(options.get("id") or 10**12 + secrets.randbelow(10**12))
    text = str(options.get("text", "Lovely \u00e9"))
    write = _instagram_comment if options.get("platform") == "instagram" else _page_comment
    return write(options, number, text)


def _instagram_comment(options: Body, number: str, text: str) -> Body:
    media: Body = {"id": str(options.get("post", POST)), "media_product_type": str(options.get("media", "FEED"))}
    media |= {name: str(options[name]) for name in ("ad_id", "original_media_id") if name in options}
    author = {"id": str(options["person"]), "username": str(options.get("name", "ann"))}
    value: Body = {"id": number, "from": author, "media": media, "text": text}
    value |= {"parent_id": str(options["reply_to"])} if options.get("reply_to") else {}
    return {"field": "live_comments" if options.get("media") == "LIVE" else "comments", "value": value}


def _page_comment(options: Body, number: str, text: str) -> Body:
    """Compose a change of a Page's feed. A `verb` beside add is edited, remove, hide or unhide."""
    post = str(options.get("post") or f"{options['account']}_{POST}")
    verb = str(options.get("verb", "add"))
    value: Body = {
        "item": "comment",
        "verb": verb,
        "comment_id": number if "_" in number else f"{post.rpartition('_')[2]}_{number}",
        "post_id": post,
        "parent_id": str(options.get("reply_to") or post),
        "from": {"id": str(options["person"]), "name": str(options.get("name", "Ann"))},
        "created_time": int(float(options.get("at") or time.time())),
        "post": {"id": post, "permalink_url": f"https://www.facebook.com/{post}", "is_published": True},
    }
    return {"field": "feed", "value": value | ({} if verb == "remove" else {"message": text})}
