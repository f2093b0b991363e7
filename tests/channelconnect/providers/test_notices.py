"""What providers send us, read as typed facts; nothing they send breaks the reading."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channelconnect.providers import UnreadableNotices, answer_challenge, read_notices, sign, verify_signature
from channelconnect.providers.notices import (
    AccountLost,
    Echo,
    InboundMessage,
    LimitChanged,
    MessageStatus,
    PersonRead,
    Problem,
    QualityChanged,
    TemplateChanged,
    Unknown,
)

AT = datetime.fromtimestamp(1790000000, UTC)


def whatsapp(field: str, value: dict[str, Any], container: str = "2001") -> bytes:
    changes = [{"field": field, "value": value}]
    entry = [{"id": container, "time": 1790000000, "changes": changes}]
    return json.dumps({"object": "whatsapp_business_account", "entry": entry}).encode()


def messages(**value: Any) -> bytes:
    metadata = {"phone_number_id": "4001", "display_phone_number": "49301234"}
    return whatsapp("messages", {"messaging_product": "whatsapp", "metadata": metadata, **value})


def page(event: dict[str, Any], kind: str = "page") -> bytes:
    ends = {"sender": {"id": "91"}, "recipient": {"id": "6001"}, "timestamp": 1790000000000}
    entry = [{"id": "6001", "time": 1790000000000, "messaging": [ends | event]}]
    return json.dumps({"object": kind, "entry": entry}).encode()


def test_a_status_comes_with_what_the_send_carried_along() -> None:
    status = {
        "id": "wamid.X",
        "status": "failed",
        "timestamp": "1790000000",
        "recipient_id": "49170",
        "biz_opaque_callback_data": "recipient-7",
        "pricing": {"billable": True, "pricing_model": "PMP", "category": "marketing"},
        "errors": [{"code": 131049, "title": "Not sent", "error_data": {"details": "engagement"}}],
    }
    assert read_notices(messages(statuses=[status])) == [
        MessageStatus(
            platform="whatsapp",
            account_id="4001",
            container_id="2001",
            at=AT,
            message_id="wamid.X",
            status="failed",
            person="49170",
            opaque="recipient-7",
            is_billable=True,
            category="marketing",
            problems=(Problem(code=131049, title="Not sent", details="engagement"),),
        )
    ]


def test_a_message_comes_with_its_writer_s_name() -> None:
    message = {"from": "49170", "id": "wamid.Y", "timestamp": "1790000000", "type": "text", "text": {"body": "Hi é"}}
    contacts = [{"profile": {"name": "Ann"}, "wa_id": "49170"}]
    (fact,) = read_notices(messages(messages=[message], contacts=contacts))
    assert fact == InboundMessage(
        platform="whatsapp",
        account_id="4001",
        container_id="2001",
        at=AT,
        message_id="wamid.Y",
        person="49170",
        kind="text",
        text="Hi é",
        person_name="Ann",
    )


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"type": "button", "button": {"text": "Stop", "payload": "p"}}, "Stop"),
        ({"type": "interactive", "interactive": {"button_reply": {"id": "1", "title": "Yes"}}}, "Yes"),
        ({"type": "interactive", "interactive": {"list_reply": {"id": "1", "title": "Third"}}}, "Third"),
        ({"type": "image", "image": {"id": "1", "caption": "look"}}, "look"),
        ({"type": "unsupported", "errors": [{"code": 131051}]}, ""),
    ],
)
def test_what_was_pressed_or_captioned_is_the_text(message: dict[str, Any], text: str) -> None:
    (fact,) = read_notices(messages(messages=[{"from": "49170", "id": "wamid.Y", **message}]))
    assert isinstance(fact, InboundMessage)
    assert (fact.kind, fact.text) == (message["type"], text)
    assert fact.at == AT


def test_a_person_without_a_number_is_known_by_the_id_with_this_business() -> None:
    contacts = [{"profile": {"name": "Ann"}, "user_id": "US.13491208655302741918"}]
    message = {"from_user_id": "US.13491208655302741918", "id": "wamid.Y", "type": "text", "text": {"body": "Hi"}}
    (fact,) = read_notices(messages(messages=[message], contacts=contacts))
    assert isinstance(fact, InboundMessage)
    assert (fact.person, fact.person_name) == ("US.13491208655302741918", "Ann")


def test_entries_and_changes_keep_their_order() -> None:
    statuses = [{"id": f"wamid.{n}", "status": "sent"} for n in range(3)]
    body = json.loads(messages(statuses=statuses))
    body["entry"] *= 2
    facts = read_notices(json.dumps(body).encode())
    assert [getattr(fact, "message_id", "") for fact in facts] == ["wamid.0", "wamid.1", "wamid.2"] * 2


@pytest.mark.parametrize("event", ["PARTNER_REMOVED", "PARTNER_APP_UNINSTALLED", "ACCOUNT_DELETED", "DISABLED_UPDATE"])
def test_a_lost_business_account(event: str) -> None:
    (fact,) = read_notices(whatsapp("account_update", {"event": event}))
    assert fact == AccountLost(platform="whatsapp", container_id="2001", at=AT, reason=event)


def test_a_lost_business_account_may_be_named_inside() -> None:
    value = {"event": "PARTNER_REMOVED", "waba_info": {"waba_id": "2002", "owner_business_id": "8001"}}
    (fact,) = read_notices(whatsapp("account_update", value, container="8001"))
    assert isinstance(fact, AccountLost)
    assert fact.container_id == "2002"


@pytest.mark.parametrize("state", ["REINSTATE", "SCHEDULE_FOR_DISABLE"])
def test_a_business_account_that_is_still_there_is_not_lost(state: str) -> None:
    value = {"event": "DISABLED_UPDATE", "ban_info": {"waba_ban_state": state}}
    assert isinstance(read_notices(whatsapp("account_update", value))[0], Unknown)


def test_a_revoked_permission_loses_the_accounts_it_names() -> None:
    change = {"field": "pages_messaging", "value": {"verb": "revoke", "target_ids": ["6001", 6002, "x"]}}
    body = {"object": "permissions", "entry": [{"id": "3001", "time": 1790000000, "changes": [change]}]}
    facts = read_notices(json.dumps(body).encode())
    assert [fact.account_id for fact in facts if isinstance(fact, AccountLost)] == ["6001", "6002"]


def test_a_granted_permission_is_nothing_to_act_on() -> None:
    change = {"field": "pages_messaging", "value": {"verb": "granted", "target_ids": ["6001"]}}
    body = {"object": "permissions", "entry": [{"id": "3001", "changes": [change]}]}
    assert read_notices(json.dumps(body).encode()) == [Unknown(platform="", kind="permissions.pages_messaging")]


def test_quality_limits_and_templates() -> None:
    quality = {"display_phone_number": "15550", "event": "FLAGGED", "current_limit": "TIER_1K"}
    (fact,) = read_notices(whatsapp("phone_number_quality_update", quality))
    assert isinstance(fact, QualityChanged)
    assert (fact.shown, fact.event, fact.messaging_limit, fact.has_limit) == ("15550", "FLAGGED", 1_000, True)
    template = {
        "event": "REJECTED",
        "message_template_id": 17,
        "message_template_name": "order_ready",
        "message_template_language": "en_US",
        "reason": "INVALID_FORMAT",
    }
    (fact,) = read_notices(whatsapp("message_template_status_update", template))
    assert isinstance(fact, TemplateChanged)
    assert (fact.template_id, fact.name, fact.language, fact.status) == ("17", "order_ready", "en_US", "REJECTED")


@pytest.mark.parametrize(
    ("value", "limit"),
    [
        ({"max_daily_conversations_per_business": "TIER_10K"}, 10_000),
        ({"max_daily_conversations_per_business": "TIER_UNLIMITED"}, None),
        ({"max_daily_conversations_per_business": "TIER_OF_TOMORROW"}, 50),
        ({"max_daily_conversation_per_phone": 250}, 250),
        ({"max_daily_conversation_per_phone": -1}, None),
    ],
)
def test_the_portfolio_s_limit_comes_in_several_spellings(value: dict[str, Any], limit: int | None) -> None:
    (fact,) = read_notices(whatsapp("business_capability_update", value))
    assert isinstance(fact, LimitChanged)
    assert fact.messaging_limit == limit


@pytest.mark.parametrize(("kind", "platform"), [("page", "facebook"), ("instagram", "instagram")])
def test_messages_of_pages_and_instagram_accounts(kind: str, platform: str) -> None:
    (fact,) = read_notices(page({"message": {"mid": "m_1", "text": "Hi"}}, kind))
    assert isinstance(fact, InboundMessage)
    assert (fact.platform, fact.account_id, fact.person, fact.text, fact.at) == (platform, "6001", "91", "Hi", AT)


@pytest.mark.parametrize(
    ("event", "kind", "text"),
    [
        ({"message": {"mid": "m_1", "attachments": [{"type": "image"}]}}, "image", ""),
        ({"message": {"mid": "m_1"}}, "unknown", ""),
        ({"postback": {"mid": "m_1", "title": "Start", "payload": "p"}}, "postback", "Start"),
    ],
)
def test_what_else_a_person_may_send(event: dict[str, Any], kind: str, text: str) -> None:
    (fact,) = read_notices(page(event))
    assert isinstance(fact, InboundMessage)
    assert (fact.kind, fact.text, fact.message_id) == (kind, text, "m_1")


def test_an_echo_carries_our_metadata_back() -> None:
    message = {"mid": "m_1", "is_echo": True, "app_id": 1001, "metadata": "recipient-7", "text": "Hi"}
    (fact,) = read_notices(page({"message": message}))
    assert isinstance(fact, Echo)
    assert (fact.message_id, fact.app_id, fact.opaque, fact.person) == ("m_1", "1001", "recipient-7", "6001")


def test_deliveries_and_reads() -> None:
    (delivered,) = read_notices(page({"delivery": {"mids": ["m_1", "m_2"], "watermark": 1790000000000}}))
    (read,) = read_notices(page({"read": {"watermark": 1790000000000}}))
    (seen,) = read_notices(page({"read": {"mid": "m_3"}}, "instagram"))
    for fact, status, ids in ((delivered, "delivered", ("m_1", "m_2")), (read, "read", ()), (seen, "read", ("m_3",))):
        assert isinstance(fact, PersonRead)
        assert (fact.status, fact.message_ids, fact.at, fact.person) == (status, ids, AT, "91")


@pytest.mark.parametrize(
    "body",
    [
        b'{"object": "user", "entry": [{"id": "1"}]}',
        b"{}",
        whatsapp("flows", {"event": "x"}),
        whatsapp("business_capability_update", {"max_phone_numbers_per_business": 2}),
        page({"reaction": {"mid": "m_1"}}),
        json.dumps({"object": "page", "entry": [{"id": "1", "changes": [{"field": "feed", "value": {}}]}]}).encode(),
    ],
)
def test_what_is_not_known_is_counted_and_left_alone(body: bytes) -> None:
    assert all(isinstance(fact, Unknown) for fact in read_notices(body))
    assert len(read_notices(body)) == 1


@pytest.mark.parametrize("body", [b"", b"[]", b"null", b"{", b"\xff", b'"\\ud800"', b"<html>", b"NaN"])
def test_what_is_no_json_object_is_unreadable(body: bytes) -> None:
    with pytest.raises(UnreadableNotices):
        read_notices(body)


texts = st.sampled_from(["", "x", "4001", "1790000000", "\x00", "PARTNER_REMOVED", "text", "revoke"])
leaves = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**53), 2**53), st.floats(allow_nan=False, allow_infinity=False), texts
)
names = st.sampled_from(
    [
        "id",
        "object",
        "entry",
        "changes",
        "field",
        "value",
        "messaging",
        "standby",
        "message",
        "messages",
        "statuses",
        "contacts",
        "metadata",
        "sender",
        "recipient",
        "timestamp",
        "time",
        "errors",
        "pricing",
        "delivery",
        "read",
        "postback",
        "mids",
        "mid",
        "watermark",
        "verb",
        "target_ids",
        "waba_info",
        "event",
        "profile",
        "attachments",
        "type",
        "text",
        "button",
        "interactive",
        "error_data",
        "code",
        "ban_info",
        "message_template_id",
        "current_limit",
    ]
)
trees = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=6), max_leaves=30
)
objects = st.sampled_from(["whatsapp_business_account", "page", "instagram", "permissions"])
fields = st.sampled_from(
    [
        "messages",
        "account_update",
        "phone_number_quality_update",
        "business_capability_update",
        "message_template_status_update",
    ]
)


@given(objects, fields, trees, trees)
def test_no_form_of_json_breaks_the_reading(kind: str, field: str, value: object, entry: object) -> None:
    changes = [{"field": field, "value": value}]
    events = {"messaging": value, "changes": changes}
    body = {"object": kind, "entry": [{"id": "1", **events}, entry]}
    for fact in read_notices(json.dumps(body).encode()):
        assert "\\x00" not in repr(fact)


# Signatures -------------------------------------------------------------------------------------------


def test_a_signature_holds_for_the_raw_bytes_alone() -> None:
    body = b'{"text":"\\u00e9"}'
    header = sign(body, "secret")
    assert verify_signature(body, header, "secret")
    assert not verify_signature('{"text":"é"}'.encode(), header, "secret")
    assert not verify_signature(body, header, "another")


@pytest.mark.parametrize("header", [None, "", "sha256=", "sha1=abc", "é", "sha256=" + "0" * 64])
def test_anything_else_is_no_signature(header: str | None) -> None:
    assert not verify_signature(b"{}", header, "secret")


def test_without_a_secret_nothing_is_genuine() -> None:
    assert not verify_signature(b"{}", sign(b"{}", ""), "")


def test_the_challenge_is_returned_to_who_knows_our_word() -> None:
    query = {"hub.mode": "subscribe", "hub.challenge": "<b>17</b>", "hub.verify_token": "word"}
    assert answer_challenge(query, "word") == "<b>17</b>"
    assert answer_challenge(query, "other") is None
    assert answer_challenge(query | {"hub.mode": "unsubscribe"}, "word") is None
    assert answer_challenge({**query, "hub.verify_token": ""}, "") is None
    assert answer_challenge({}, "word") is None
