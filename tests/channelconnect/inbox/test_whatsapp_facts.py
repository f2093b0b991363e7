"""What WhatsApp's callbacks tell about conversations."""

from typing import Any

import pytest

from channelconnect.providers.notices.events import Unknown
from tests.channelconnect.inbox.notices import AT, CAME_AT, WHATSAPP, message, of_number, read
from workspaces.conversations.facts import (
    ConversationTouched,
    EchoReceived,
    IdentityChanged,
    MarketingPreferenceChanged,
    MessageEdited,
    MessageReceived,
    MessageRemoved,
    Person,
    ReactionChanged,
    ReceivedFile,
    StatusChanged,
)

BSUID, NEWER = "US.13491208655302741918", "US.99"
ADA = Person(external_id="491701234567", phone="+491701234567")


def received(**more: Any) -> MessageReceived:
    [fact] = read(of_number(messages=[message(**more)]))
    assert type(fact) is MessageReceived
    return fact


def test_a_text_comes_with_who_wrote_it() -> None:
    contacts = [{"profile": {"name": "Ada", "username": "ada.l"}, "wa_id": "491701234567", "user_id": BSUID}]
    body = of_number(messages=[message(type="text", text={"body": "Hi é"})], contacts=contacts)
    assert read(body) == [
        MessageReceived(
            channel=WHATSAPP,
            person=Person(
                external_id="491701234567", user_id=BSUID, phone="+491701234567", name="Ada", username="ada.l"
            ),
            at=AT,
            message_id="wamid.Y",
            type="text",
            text="Hi é",
        )
    ]


def test_what_is_dated_later_than_it_came_counts_from_when_it_came() -> None:
    ahead = str(int(CAME_AT.timestamp()) + 3_600)
    assert received(type="text", text={"body": "STOP"}, timestamp=ahead).at == CAME_AT
    preference = {"wa_id": "491701234567", "category": "marketing_messages", "value": "stop", "timestamp": ahead}
    [told] = read(of_number("user_preferences", user_preferences=[preference]))
    assert isinstance(told, MarketingPreferenceChanged)
    assert told.at == CAME_AT


@pytest.mark.parametrize("kind", ["image", "video", "audio", "document", "sticker"])
def test_a_file_comes_by_its_id(kind: str) -> None:
    media = {"id": "900", "mime_type": "x/y", "sha256": "abc=", "caption": "look", "filename": "a.pdf", "voice": True}
    fact = received(type=kind, **{kind: media})
    file = ReceivedFile(reference="900", content_type="x/y", sha256="abc=", filename="a.pdf")
    assert (fact.type, fact.text, fact.file, fact.details) == (kind, "look", file, {"voice": True})


@pytest.mark.parametrize("reference", [None, "../../evil", "https://x.example", {}, "9" * 40])
def test_a_file_whose_id_is_none_is_not_fetched(reference: object) -> None:
    fact = received(type="image", image={"id": reference, "caption": "look"})
    assert (fact.type, fact.text, fact.file) == ("image", "look", None)


@pytest.mark.parametrize(
    ("sent", "kind", "text", "payload"),
    [
        ({"type": "button", "button": {"text": "Stop", "payload": "STOP_ALL"}}, "interactive", "Stop", "STOP_ALL"),
        (
            {
                "type": "interactive",
                "interactive": {"type": "button_reply", "button_reply": {"id": "y", "title": "Yes"}},
            },
            "interactive",
            "Yes",
            "y",
        ),
        (
            {"type": "interactive", "interactive": {"list_reply": {"id": "3", "title": "Third", "description": "d"}}},
            "interactive",
            "Third",
            "3",
        ),
        ({"type": "order", "order": {"catalog_id": "1", "text": "please"}}, "interactive", "please", ""),
        ({"type": "location", "location": {"latitude": 1.5, "longitude": 2, "name": "Shop"}}, "location", "Shop", ""),
        ({"type": "contacts", "contacts": [{"name": {"formatted_name": "Eve"}}, {}]}, "contacts", "Eve", ""),
    ],
)
def test_what_was_pressed_or_shared_has_a_text(sent: dict[str, Any], kind: str, text: str, payload: str) -> None:
    fact = received(**sent)
    assert (fact.type, fact.text, fact.payload) == (kind, text, payload)


def test_what_a_text_cannot_hold_stands_in_the_details() -> None:
    place = {"latitude": 1.5, "longitude": 2, "name": "Shop", "address": "1 High St", "other": "x"}
    assert received(type="location", location=place).details == {
        "location": {"latitude": 1.5, "longitude": 2, "name": "Shop", "address": "1 High St"}
    }
    items = [{"product_retailer_id": "sku", "quantity": 2}]
    assert received(type="order", order={"catalog_id": "1", "product_items": items}).details == {
        "order": {"catalog_id": "1", "product_items": items}
    }
    cards = [{"name": {"formatted_name": "Eve"}, "phones": [{"phone": "+1"}]}]
    assert received(type="contacts", contacts=cards).details == {"contacts": cards}


def test_a_form_s_answers_are_read_out_of_their_text() -> None:
    reply = {"name": "flow", "body": "Sent", "response_json": '{"flow_token":"t","seats":2,"day":"Monday"}'}
    fact = received(type="interactive", interactive={"type": "nfm_reply", "nfm_reply": reply})
    assert fact.text == "flow_token: t\nseats: 2\nday: Monday"
    assert fact.details["interactive"] == {
        "type": "nfm_reply",
        "name": "flow",
        "fields": {"flow_token": "t", "seats": 2, "day": "Monday"},
    }
    for broken in ("{", "[]", "NaN", 7, "[" * 100_000):
        fact = received(type="interactive", interactive={"nfm_reply": {"response_json": broken, "body": "Sent"}})
        assert fact.text == "Sent"


@pytest.mark.parametrize(
    ("sent", "name"),
    [
        ({"type": "unsupported", "errors": [{"code": 131051}], "unsupported": {"type": "poll"}}, "poll"),
        ({"type": "unsupported"}, "unknown"),
        ({"type": "request_welcome"}, "request_welcome"),
        ({}, "unknown"),
        ({"type": "edit"}, "edit"),
    ],
)
def test_what_nobody_can_show_has_its_name(sent: dict[str, Any], name: str) -> None:
    fact = received(**sent)
    assert (fact.type, fact.details["unsupported"]) == ("unsupported", name)


def test_an_answer_names_what_it_answers_and_an_advertisement_where_it_came_from() -> None:
    context = {"id": "wamid.X", "forwarded": True, "referred_product": {"catalog_id": "1"}}
    fact = received(type="text", text={"body": "x"}, context=context, referral={"source_id": "7", "ctwa_clid": "c"})
    assert fact.details == {
        "reply_to": "wamid.X",
        "forwarded": True,
        "referred_product": {"catalog_id": "1"},
        "referral": {"source_id": "7", "ctwa_clid": "c"},
    }


def test_a_reaction_belongs_to_its_message_and_can_be_taken_back() -> None:
    for sent, emoji in (({"emoji": "👍"}, "👍"), ({"emoji": ""}, ""), ({}, "")):
        body = of_number(messages=[message(type="reaction", reaction={"message_id": "wamid.X", **sent})])
        assert read(body) == [ReactionChanged(channel=WHATSAPP, person=ADA, at=AT, message_id="wamid.X", emoji=emoji)]


def test_an_edit_changes_its_target_and_a_revocation_removes_it() -> None:
    edited = {"original_message_id": "wamid.X", "message": {"type": "image", "image": {"caption": "new"}}}
    body = of_number(messages=[message(type="edit", edit=edited), message(type="revoke", revoke=edited)])
    assert read(body) == [
        MessageEdited(channel=WHATSAPP, person=ADA, at=AT, message_id="wamid.X", text="new"),
        MessageRemoved(channel=WHATSAPP, person=ADA, at=AT, message_id="wamid.X"),
    ]


def test_messages_of_groups_are_not_taken() -> None:
    body = of_number(
        messages=[message(type="text", text={"body": "x"}, group_id="1203")],
        statuses=[{"id": "wamid.X", "status": "sent", "recipient_id": "49170", "recipient_type": "group"}],
    )
    assert read(body) == [Unknown(platform="whatsapp", kind="group")] * 2


# Identity ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sent", "contact", "person"),
    [
        ({"from": None, "from_user_id": BSUID}, {"user_id": BSUID}, Person(user_id=BSUID, name="Ada")),
        ({"from": BSUID}, {"user_id": BSUID}, Person(user_id=BSUID, name="Ada")),
        (
            {"from_user_id": BSUID},
            {"wa_id": "491701234567"},
            Person(external_id="491701234567", user_id=BSUID, phone="+491701234567", name="Ada"),
        ),
        ({"from": None, "from_user_id": BSUID}, {"user_id": BSUID, "wa_id": "4917"}, Person(user_id=BSUID, name="Ada")),
        (
            {"from": None, "from_user_id": BSUID},
            {"user_id": BSUID, "wa_id": "49170000"},
            Person(external_id="49170000", user_id=BSUID, phone="+49170000", name="Ada"),
        ),
    ],
)
def test_a_person_is_known_by_either_id_and_by_both(sent: dict[str, Any], contact: Any, person: Person) -> None:
    contacts = [{"profile": {"name": "Ada"}, **contact}, {"wa_id": "1", "profile": {"name": "Eve"}}]
    [fact] = read(of_number(messages=[message(**sent)], contacts=contacts))
    assert isinstance(fact, MessageReceived)
    assert fact.person == person


@pytest.mark.parametrize(
    "sent", [{"from": None}, {"from": ""}, {"from": "x"}, {"from": "12"}, {"from_user_id": "us.1"}]
)
def test_who_has_no_id_is_nobody(sent: dict[str, Any]) -> None:
    [fact] = read(of_number(messages=[message(**{"from": None} | sent)]))
    assert isinstance(fact, Unknown)


def test_a_new_number_moves_the_person() -> None:
    system = {"type": "user_changed_number", "wa_id": "491709999999", "user_id": NEWER, "previous_user_id": BSUID}
    assert read(of_number(messages=[message(type="system", system=system)])) == [
        IdentityChanged(
            channel=WHATSAPP,
            person=Person(external_id="491701234567", user_id=BSUID, phone="+491701234567"),
            at=AT,
            becomes=Person(external_id="491709999999", user_id=NEWER, phone="+491709999999"),
        )
    ]


def test_a_new_id_moves_a_person_without_a_number() -> None:
    system = {"type": "user_changed_user_id", "user_id": NEWER, "previous_user_id": BSUID}
    sent = message(type="system", system=system) | {"from": NEWER}
    updates = [{"user_id": {"previous": BSUID, "current": NEWER}, "timestamp": 1790000000}]
    for body in (of_number(messages=[sent]), of_number("user_id_update", user_id_update=updates)):
        assert read(body) == [
            IdentityChanged(channel=WHATSAPP, person=Person(user_id=BSUID), at=AT, becomes=Person(user_id=NEWER))
        ]


@pytest.mark.parametrize(
    "system", [{"type": "customer_identity_changed"}, {"type": "user_changed_number"}, {}, None, "x"]
)
def test_other_news_of_the_system_are_no_message(system: object) -> None:
    [fact] = read(of_number(messages=[message(type="system", system=system)]))
    assert isinstance(fact, Unknown)


# Statuses ----------------------------------------------------------------------------------------------


def status(**more: Any) -> dict[str, Any]:
    return {"id": "wamid.X", "status": "delivered", "timestamp": "1790000000", "recipient_id": "491701234567", **more}


def test_a_status_comes_with_its_price_and_what_the_send_carried_along() -> None:
    pricing = {"billable": True, "pricing_model": "PMP", "category": "marketing"}
    sent = status(pricing=pricing, biz_opaque_callback_data="ours-7", recipient_user_id=BSUID)
    assert read(of_number(statuses=[sent])) == [
        StatusChanged(
            channel=WHATSAPP,
            person=Person(external_id="491701234567", user_id=BSUID, phone="+491701234567"),
            at=AT,
            message_id="wamid.X",
            status="delivered",
            opaque="ours-7",
            is_billable=True,
            category="marketing",
        )
    ]


@pytest.mark.parametrize(
    ("error", "told"),
    [
        ({"code": 131049, "title": "Not sent", "error_data": {"details": "engagement"}}, ("131049", "engagement")),
        ({"code": 131026, "title": "Undeliverable", "message": "m"}, ("131026", "Undeliverable")),
        ({"message": "m"}, ("", "m")),
    ],
)
def test_a_failure_says_why(error: dict[str, Any], told: tuple[str, str]) -> None:
    [fact] = read(of_number(statuses=[status(status="failed", errors=[error])]))
    assert isinstance(fact, StatusChanged)
    assert (fact.status, fact.error_code, fact.error_message) == ("failed", *told)


def test_played_is_read_and_other_states_change_nothing() -> None:
    facts = read(of_number(statuses=[status(status=name) for name in ("played", "deleted", "warning", None)]))
    assert [getattr(fact, "status", None) for fact in facts] == ["read", None, None, None]


def test_without_a_person_or_an_id_a_status_is_about_nothing() -> None:
    odd = [status(recipient_id=None), status(id="")]
    assert all(isinstance(fact, Unknown) for fact in read(of_number(statuses=odd)))


# What else is told -------------------------------------------------------------------------------------


def test_a_call_of_the_person_s_opens_the_window_and_one_of_ours_does_not() -> None:
    calls = [{"from": "491701234567", "timestamp": "1790000000", "direction": "USER_INITIATED"}]
    assert read(of_number("calls", calls=calls)) == [
        ConversationTouched(channel=WHATSAPP, person=ADA, at=AT, kind="call")
    ]
    assert read(of_number("calls", calls=[calls[0] | {"direction": "BUSINESS_INITIATED"}])) == []


@pytest.mark.parametrize(("value", "wanted"), [("stop", False), ("resume", True)])
def test_who_wants_no_marketing_is_told(value: str, wanted: bool) -> None:
    preference = {"wa_id": "491701234567", "category": "marketing_messages", "value": value, "timestamp": 1790000000}
    assert read(of_number("user_preferences", user_preferences=[preference])) == [
        MarketingPreferenceChanged(channel=WHATSAPP, person=ADA, at=AT, wants_marketing=wanted)
    ]
    other = preference | {"category": "something_new"}
    assert isinstance(read(of_number("user_preferences", user_preferences=[other]))[0], Unknown)


def test_what_the_business_wrote_in_its_own_app_is_an_echo() -> None:
    sent = {"from": "49301234", "to": "491701234567", "id": "wamid.Z", "timestamp": "1790000000", "type": "text"}
    body = of_number("smb_message_echoes", message_echoes=[sent | {"text": {"body": "Hello"}}])
    assert read(body) == [
        EchoReceived(channel=WHATSAPP, person=ADA, at=AT, message_id="wamid.Z", type="text", text="Hello")
    ]


def test_what_is_for_a_number_that_nobody_connected_is_counted() -> None:
    [fact] = read(of_number(number="4999", messages=[message(type="text", text={"body": "x"})]))
    assert fact == Unknown(platform="whatsapp", account_id="4999", kind="account")


def test_what_tells_no_time_happened_when_it_was_told() -> None:
    body = of_number(messages=[message(type="text") | {"timestamp": None}]).replace(b'"time": 1790000000,', b"")
    [fact] = read(body)
    assert fact.at == CAME_AT


def test_everything_is_bounded() -> None:
    huge = {"a" * 500: "x" * 5_000, "deep": [[[[[[["too deep"]]]]]]], **{str(n): list(range(100)) for n in range(100)}}
    fact = received(type="text" * 100, text={"body": "x" * 100_000}, referral=huge, context={"id": "w" * 9_000})
    referral = fact.details["referral"]
    assert len(referral) == 30
    assert len(referral["a" * 100]) == 1_000
    assert "too deep" not in str(referral)
    assert len(referral["0"]) == 30
    assert len(fact.details["reply_to"]) == 512
    assert len(received(type="text", text={"body": "x" * 100_000}).text) == 65_536
