"""What providers send us, read as typed facts; nothing they send breaks the reading."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channelconnect.providers.notices.events import (
    AccountAccessChanged,
    LimitChanged,
    QualityChanged,
    TemplateChanged,
    Unknown,
    accounts_in,
)
from channelconnect.providers.notices.parsing import UnreadableNotices, notice_of
from channelconnect.providers.settings import answer_challenge, sign, verify_signature
from tests.channelconnect.inbox.notices import AT, CAME_AT, NUMBER, of_number, page, read, whatsapp


def test_entries_and_changes_keep_their_order() -> None:
    statuses = [{"id": f"wamid.{n}", "status": "sent", "recipient_id": "49170"} for n in range(3)]
    body = json.loads(of_number(statuses=statuses))
    body["entry"] *= 2
    facts = read(json.dumps(body).encode())
    assert [getattr(fact, "message_id", "") for fact in facts] == ["wamid.0", "wamid.1", "wamid.2"] * 2


@pytest.mark.parametrize("event", ["PARTNER_REMOVED", "PARTNER_APP_UNINSTALLED", "ACCOUNT_DELETED", "DISABLED_UPDATE"])
def test_a_lost_business_account(event: str) -> None:
    (fact,) = read(whatsapp("account_update", {"event": event}))
    assert fact == AccountAccessChanged(platform="whatsapp", container_id="2001", at=AT, reason=event)


def test_a_lost_business_account_may_be_named_inside() -> None:
    value = {"event": "PARTNER_REMOVED", "waba_info": {"waba_id": "2002", "owner_business_id": "8001"}}
    (fact,) = read(whatsapp("account_update", value, container="8001"))
    assert isinstance(fact, AccountAccessChanged)
    assert fact.container_id == "2002"


@pytest.mark.parametrize("state", ["REINSTATE", "SCHEDULE_FOR_DISABLE"])
def test_a_business_account_that_is_still_there_is_not_lost(state: str) -> None:
    value = {"event": "DISABLED_UPDATE", "ban_info": {"waba_ban_state": state}}
    assert isinstance(read(whatsapp("account_update", value))[0], Unknown)


def test_a_revoked_permission_loses_the_accounts_it_names() -> None:
    change = {"field": "pages_messaging", "value": {"verb": "revoke", "target_ids": ["6001", 6002, "x"]}}
    body = {"object": "permissions", "entry": [{"id": "3001", "time": 1790000000, "changes": [change]}]}
    facts = read(json.dumps(body).encode())
    assert [fact.account_id for fact in facts if isinstance(fact, AccountAccessChanged)] == ["6001", "6002"]


def test_a_granted_permission_is_nothing_to_act_on() -> None:
    change = {"field": "pages_messaging", "value": {"verb": "granted", "target_ids": ["6001"]}}
    body = {"object": "permissions", "entry": [{"id": "3001", "changes": [change]}]}
    assert read(json.dumps(body).encode()) == [Unknown(platform="", kind="permissions.pages_messaging", at=CAME_AT)]


def test_a_number_s_quality_and_limit() -> None:
    quality = {"display_phone_number": "15550", "event": "FLAGGED", "current_limit": "TIER_1K"}
    (fact,) = read(whatsapp("phone_number_quality_update", quality))
    assert isinstance(fact, QualityChanged)
    assert (fact.shown, fact.event, fact.quality) == ("15550", "FLAGGED", "RED")
    assert (fact.messaging_limit, fact.has_limit) == (1_000, True)


def test_what_changes_of_a_template() -> None:
    template = {
        "event": "REJECTED",
        "message_template_id": 17,
        "message_template_name": "order_ready",
        "message_template_language": "en_US",
        "reason": "INVALID_FORMAT",
    }
    (fact,) = read(whatsapp("message_template_status_update", template))
    assert isinstance(fact, TemplateChanged)
    assert (fact.template_id, fact.name, fact.language) == ("17", "order_ready", "en_US")
    assert (fact.what, fact.value, fact.reason) == ("status", "REJECTED", "INVALID_FORMAT")
    for field, more, found in (
        ("message_template_quality_update", {"new_quality_score": "RED"}, ("quality", "RED")),
        ("template_category_update", {"new_category": "MARKETING"}, ("category", "MARKETING")),
        ("message_template_components_update", {}, ("components", "")),
    ):
        (fact,) = read(whatsapp(field, template | more))
        assert isinstance(fact, TemplateChanged)
        assert (fact.name, fact.what, fact.value) == ("order_ready", *found)


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
    (fact,) = read(whatsapp("business_capability_update", value))
    assert isinstance(fact, LimitChanged)
    assert fact.messaging_limit == limit


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
    assert all(isinstance(fact, Unknown) for fact in read(body))
    assert len(read(body)) == 1


@pytest.mark.parametrize("body", [b"", b"[]", b"null", b"{", b"\xff", b'"\\ud800"', b"<html>", b"NaN"])
def test_what_is_no_json_object_is_unreadable(body: bytes) -> None:
    with pytest.raises(UnreadableNotices):
        read(body)


texts = st.sampled_from(
    [
        *("", "x", "4001", "1790000000", "\x00", "PARTNER_REMOVED", "text", "revoke", "491701234567", "US.1", "read"),
        *("reaction", "system", "edit", "image", "interactive", "unsupported", "{}", "https://x.example", "share"),
        *("user_changed_number", "react", "stop", "marketing_messages", "story_mention"),
    ]
)
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
        "from",
        "from_user_id",
        "wa_id",
        "user_id",
        "previous",
        "recipient_id",
        "status",
        "context",
        "referral",
        "group_id",
        "system",
        "reaction",
        "edit",
        "revoke",
        "original_message_id",
        "message_id",
        "emoji",
        "action",
        "image",
        "location",
        "nfm_reply",
        "response_json",
        "order",
        "unsupported",
        "calls",
        "user_preferences",
        "user_id_update",
        "message_echoes",
        "message_edit",
        "is_echo",
        "is_deleted",
        "quick_reply",
        "reply_to",
        "story",
        "payload",
        "url",
        "coordinates",
        "history",
        "threads",
        "metadata",
        "progress",
        "history_context",
        "errors",
        "state_sync",
        "contact",
        "phone_number",
        "full_name",
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
        "template_category_update",
        "calls",
        "user_preferences",
        "user_id_update",
        "smb_message_echoes",
        "smb_app_state_sync",
        "history",
    ]
)


@given(objects, fields, trees, trees)
def test_no_form_of_json_breaks_the_reading(kind: str, field: str, value: object, entry: object) -> None:
    known = {"metadata": {"phone_number_id": NUMBER}} | (value if isinstance(value, dict) else {})
    changes = [{"field": field, "value": value}, {"field": field, "value": known}]
    ends = {"sender": {"id": "91"}, "recipient": {"id": "91"}}
    events = {"messaging": [value, ends | (value if isinstance(value, dict) else {})], "changes": changes}
    accounts = [{"id": account, **events} for account in ("6001", "7001")]
    body = json.dumps({"object": kind, "entry": [*accounts, entry]}).encode()
    for fact in read(body):
        assert "\\x00" not in repr(fact)
        assert fact.at is not None or isinstance(fact, Unknown)
    assert all(platform and account for platform, account in accounts_in(notice_of(body)))


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
