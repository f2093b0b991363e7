"""What Messenger's and Instagram's callbacks tell about conversations."""

from datetime import timedelta
from typing import Any

import pytest

from channelconnect.providers.notices.events import Unknown
from tests.channelconnect.inbox.notices import AT, CAME_AT, CHANNELS, INSTAGRAM, PAGE, page, read
from workspaces.conversations.facts import (
    ConversationTouched,
    EchoReceived,
    MessageEdited,
    MessageReceived,
    MessageRemoved,
    Person,
    ReactionChanged,
    ReadUpTo,
    ReceivedFile,
    StatusChanged,
)

ADA = Person(external_id="91")
MESSENGER, INSTA = CHANNELS["facebook", PAGE], CHANNELS["instagram", INSTAGRAM]
URL = "https://scontent.fbcdn.net/x.jpg"


def received(message: dict[str, Any], kind: str = "page", **beside: Any) -> MessageReceived:
    [fact] = read(page({"message": {"mid": "m_1", **message}, **beside}, kind))
    assert type(fact) is MessageReceived
    return fact


@pytest.mark.parametrize(("kind", "channel"), [("page", MESSENGER), ("instagram", INSTA)])
@pytest.mark.parametrize("where", ["messaging", "standby"])
def test_a_text_comes_with_who_wrote_it(kind: str, channel: Any, where: str) -> None:
    assert read(page({"message": {"mid": "m_1", "text": "Hi"}}, kind, where)) == [
        MessageReceived(channel=channel, person=ADA, at=AT, message_id="m_1", type="text", text="Hi")
    ]


def test_an_answer_and_a_quick_reply_say_what_they_are_to() -> None:
    fact = received({"text": "Yes", "quick_reply": {"payload": "YES"}, "reply_to": {"mid": "m_0"}})
    assert (fact.type, fact.text, fact.payload, fact.details) == ("interactive", "Yes", "YES", {"reply_to": "m_0"})


@pytest.mark.parametrize(
    ("kind", "shown"),
    [("image", "image"), ("video", "video"), ("audio", "audio"), ("file", "document"), ("sticker", "sticker")],
)
def test_a_file_comes_by_its_address(kind: str, shown: str) -> None:
    fact = received({"attachments": [{"type": kind, "payload": {"url": URL}}]})
    assert (fact.type, fact.file) == (shown, ReceivedFile(reference=URL))


def test_a_sticker_may_look_like_an_image() -> None:
    assert received({"attachments": [{"type": "image", "payload": {"url": URL, "sticker_id": 3}}]}).type == "sticker"


@pytest.mark.parametrize("url", [None, "javascript:x", "file:///etc/passwd", {}, "https://" + "x" * 5_000])
def test_a_file_whose_address_is_none_is_not_fetched(url: object) -> None:
    fact = received({"attachments": [{"type": "image", "payload": {"url": url}}]})
    assert (fact.type, fact.file) == ("image", None)


@pytest.mark.parametrize(("is_echo", "kind"), [(False, MessageReceived), (True, EchoReceived)])
def test_further_files_of_a_message_are_messages_after_it(is_echo: bool, kind: type[MessageReceived]) -> None:
    files: list[dict[str, Any]] = [{"type": one, "payload": {"url": f"{URL}?{one}"}} for one in ("image", "file")]
    shared = {"type": "share", "payload": {"url": "https://x.example"}}
    message = {"mid": "m_1", "text": "All of it", "is_echo": is_echo, "attachments": [*files, shared]}
    ends = {"sender": {"id": PAGE}, "recipient": {"id": "91"}} if is_echo else {}
    first, second = read(page({"message": message, **ends}, "page"))
    assert type(first) is type(second) is kind
    assert isinstance(first, MessageReceived)
    assert isinstance(second, MessageReceived)
    assert (first.message_id, first.type, first.text) == ("m_1", "image", "All of it")
    assert first.details == {"attachments": [{"type": "share", "url": "https://x.example"}]}
    assert (second.message_id, second.type, second.text) == ("m_1#2", "document", "")
    assert (second.at, second.person, second.file) == (AT, ADA, ReceivedFile(reference=f"{URL}?file"))


@pytest.mark.parametrize(
    ("attachment", "kind", "text"),
    [
        ({"type": "share", "payload": {"url": "https://x.example"}}, "text", "https://x.example"),
        ({"type": "ig_reel", "payload": {"title": "Reel", "url": URL}}, "text", f"Reel\n{URL}"),
        ({"type": "fallback", "payload": None, "title": "Page", "url": URL}, "text", f"Page\n{URL}"),
        ({"type": "fallback", "payload": None}, "unsupported", ""),
        ({"type": "like_heart"}, "text", "❤️"),
        ({"type": "ephemeral"}, "unsupported", ""),
        ({"type": "appointment_booking"}, "unsupported", ""),
        ({"type": "location", "title": "Shop", "payload": {"coordinates": {"lat": 1, "long": 2}}}, "location", "Shop"),
        ({}, "unsupported", ""),
    ],
)
def test_what_is_shared_is_shown_as_far_as_it_can_be(attachment: dict[str, Any], kind: str, text: str) -> None:
    fact = received({"attachments": [attachment]})
    assert (fact.type, fact.text, fact.file) == (kind, text, None)


def test_what_the_network_does_not_show_us_is_unsupported() -> None:
    for message in ({"is_unsupported": True}, {}):
        fact = received(message, "instagram")
        assert (fact.type, fact.details) == ("unsupported", {"unsupported": "unknown"})


def test_a_story_may_not_be_kept() -> None:
    mention = received({"attachments": [{"type": "story_mention", "payload": {"url": URL}}]}, "instagram")
    assert mention.file == ReceivedFile(reference=URL, may_be_kept=False)
    assert mention.details == {"story": {"kind": "mention", "url": URL}}
    answer = received({"text": "Wow", "reply_to": {"story": {"id": "1", "url": URL}}}, "instagram")
    assert (answer.type, answer.file) == ("text", None)
    assert answer.details == {"story": {"kind": "reply", "id": "1", "url": URL}}


def test_a_button_is_a_message_with_a_payload() -> None:
    referral = {"ref": "shop", "source": "ADS"}
    postback = {"mid": "m_1", "title": "Start", "payload": "GO", "referral": referral}
    assert read(page({"postback": postback})) == [
        MessageReceived(
            channel=MESSENGER,
            person=ADA,
            at=AT,
            message_id="m_1",
            type="interactive",
            text="Start",
            payload="GO",
            details={"referral": referral},
        )
    ]
    [observed] = read(page({"postback": {"mid": "m_1", "title": "Start"}}, where="standby"))
    assert isinstance(observed, MessageReceived)
    assert observed.payload == ""


def test_a_link_of_ours_opens_the_window() -> None:
    referral = {"ref": "x", "source": "SHORTLINK"}
    assert read(page({"referral": referral})) == [
        ConversationTouched(channel=MESSENGER, person=ADA, at=AT, kind="referral", details={"referral": referral})
    ]


@pytest.mark.parametrize(
    ("reaction", "emoji"),
    [
        ({"action": "react", "emoji": "😆", "reaction": "smile"}, "😆"),
        ({"action": "react", "reaction": "sad"}, "😢"),
        ({"action": "react"}, "❤️"),
        ({"action": "unreact", "emoji": "😆"}, ""),
    ],
)
def test_a_reaction_belongs_to_its_message(reaction: dict[str, str], emoji: str) -> None:
    assert read(page({"reaction": {"mid": "m_0", **reaction}}, "instagram")) == [
        ReactionChanged(channel=INSTA, person=ADA, at=AT, message_id="m_0", emoji=emoji)
    ]


def test_an_edit_and_an_unsend_change_their_message() -> None:
    assert read(page({"message_edit": {"mid": "m_0", "text": "new", "num_edit": 2}})) == [
        MessageEdited(channel=MESSENGER, person=ADA, at=AT, message_id="m_0", text="new")
    ]
    assert read(page({"message": {"mid": "m_0", "is_deleted": True}}, "instagram")) == [
        MessageRemoved(channel=INSTA, person=ADA, at=AT, message_id="m_0")
    ]


def test_an_echo_is_to_the_person_and_carries_our_metadata_back() -> None:
    ends = {"sender": {"id": PAGE}, "recipient": {"id": "91"}}
    sent = {"mid": "m_1", "is_echo": True, "app_id": 26390203743090, "metadata": "ours-7", "text": "Hi"}
    assert read(page({"message": sent, **ends})) == [
        EchoReceived(
            channel=MESSENGER,
            person=ADA,
            at=AT,
            message_id="m_1",
            type="text",
            text="Hi",
            opaque="ours-7",
            details={"app_id": "26390203743090"},
        )
    ]


def test_deliveries_and_reads_reach_up_to_a_moment_or_a_message() -> None:
    mark = 1790000000000 - 5_000
    earlier = AT - timedelta(seconds=5)
    assert read(page({"delivery": {"mids": ["m_1"], "watermark": mark}})) == [
        ReadUpTo(channel=MESSENGER, person=ADA, at=earlier, status="delivered")
    ]
    assert read(page({"read": {"watermark": mark}})) == [
        ReadUpTo(channel=MESSENGER, person=ADA, at=earlier, status="read")
    ]
    assert read(page({"read": {"mid": "m_3"}}, "instagram")) == [
        ReadUpTo(channel=INSTA, person=ADA, at=AT, status="read", message_id="m_3")
    ]
    assert read(page({"delivery": {"mids": ["m_1", "m_2", 7]}})) == [
        StatusChanged(channel=MESSENGER, person=ADA, at=AT, message_id=mid, status="delivered")
        for mid in ("m_1", "m_2")
    ]


def test_nobody_has_read_further_than_the_moment_at_which_it_was_told() -> None:
    far = 4_000_000_000_000
    for event in ({"delivery": {"watermark": far}}, {"read": {"watermark": far}}):
        [told] = read(page(event))
        assert isinstance(told, ReadUpTo)
        assert told.at == CAME_AT


@pytest.mark.parametrize(
    "event",
    [
        {"message": {"text": "a note of the network's"}},
        {"postback": {"title": "Start"}},
        {"message": {"mid": "m_1", "text": "x"}, "sender": {"id": "not digits"}},
        {"message": {"mid": "m_1", "text": "x"}, "sender": None},
        {"reaction": {"mid": "m_1"}},
        {"read": {}},
        {"pass_thread_control": {"new_owner_app_id": "1"}},
    ],
)
def test_what_names_no_message_or_nobody_is_left_alone(event: dict[str, Any]) -> None:
    [fact] = read(page(event))
    assert isinstance(fact, Unknown)
