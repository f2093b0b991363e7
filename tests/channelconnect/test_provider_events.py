"""What providers send us: proved, stored raw, answered at once, read once."""

import hashlib
import hmac
import json
import time
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client
from django.utils.timezone import now

from agency.models import ActivityEntry
from channelconnect.inbox.reading import read_waiting
from channelconnect.models import ChannelCredential, ProviderNotice
from channelconnect.tasks import forget_notices as forget
from tests.channelconnect.agencies import a_session
from tests.channelconnect.customer import Customer, outcome
from tests.factories import ChannelFactory
from tests.parallel import at_once
from tests.tenants import Tenant
from tools.sandbox import RunningSandbox
from workspaces.subaccounts.models import Channel

PATH = "/connect/provider-events"
MESSAGE = (
    b'{"object":"whatsapp_business_account","entry":[{"id":"1","changes":[{"field":"messages","value":'
    b'{"messages":[{"text":{"body":"\\u00e9 \\/"}}]}}]}]}'
)


def signed(body: bytes, secret: str) -> str:
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def post(meta: RunningSandbox, body: bytes, signature: str | None = None) -> Any:
    headers = {"X-Hub-Signature-256": signed(body, meta.config.app_secret) if signature is None else signature}
    return Client(enforce_csrf_checks=True).post(PATH, body, content_type="application/json", headers=headers)


def stored() -> list[bytes]:
    return [bytes(body) for body in ProviderNotice.objects.order_by("id").values_list("body", flat=True)]


@pytest.fixture(autouse=True)
def _tables(db: None) -> None:
    pass


# Verification -----------------------------------------------------------------------------------------------


def verify(meta: RunningSandbox, **query: str) -> Any:
    usual = {"mode": "subscribe", "challenge": "1158201444", "verify_token": meta.config.verify_token}
    return Client().get(f"{PATH}?{urlencode({f'hub.{name}': value for name, value in (usual | query).items()})}")


def test_the_address_proves_itself_with_the_challenge_as_plain_text(meta: RunningSandbox) -> None:
    for challenge in ("1158201444", "<script>alert(1)</script>"):
        answer = verify(meta, challenge=challenge)
        assert (answer.status_code, answer.content) == (200, challenge.encode())
        assert answer["Content-Type"] == "text/plain; charset=utf-8"
        assert answer["X-Content-Type-Options"] == "nosniff"


def test_with_another_token_or_mode_it_proves_nothing(meta: RunningSandbox) -> None:
    for name, value in (("verify_token", "x"), ("verify_token", ""), ("verify_token", "ü"), ("mode", "x")):
        answer = verify(meta, **{name: value})
        assert (answer.status_code, answer.content) == (403, b"Forbidden"), (name, value)


def test_without_parameters_or_without_a_token_of_ours_it_proves_nothing(meta: RunningSandbox, settings: Any) -> None:
    assert Client().get(PATH).status_code == 403
    settings.META_WEBHOOK_VERIFY_TOKEN = ""
    assert verify(meta, verify_token="").status_code == 403


# Taking -----------------------------------------------------------------------------------------------------


def test_a_signed_callback_is_stored_as_it_came_in_one_statement(
    meta: RunningSandbox, django_assert_num_queries: Any
) -> None:
    with django_assert_num_queries(1):
        answer = post(meta, MESSAGE)
    assert (answer.status_code, answer.content) == (200, b"OK")
    assert stored() == [MESSAGE]


def test_a_wrong_signature_is_refused_and_nothing_stored(meta: RunningSandbox) -> None:
    for signature in ("", "sha256=", "sha256=" + "0" * 64, "sha1=x", "ü", "x" * 10_000):
        assert post(meta, MESSAGE, signature).status_code == 403, signature
    assert stored() == []


def test_the_signature_is_over_these_very_bytes_and_by_our_secret(meta: RunningSandbox, settings: Any) -> None:
    right = signed(MESSAGE, meta.config.app_secret)
    assert post(meta, MESSAGE + b" ", right).status_code == 403
    assert post(meta, json.dumps(json.loads(MESSAGE)).encode(), right).status_code == 403
    assert post(meta, MESSAGE, signed(MESSAGE, "another app's secret")).status_code == 403
    settings.META_APP_SECRET = ""
    assert post(meta, MESSAGE, signed(MESSAGE, "")).status_code == 403
    assert stored() == []


def test_a_repeated_body_is_answered_200_and_kept_once(meta: RunningSandbox) -> None:
    assert [post(meta, MESSAGE).status_code for _ in range(3)] == [200, 200, 200]
    assert stored() == [MESSAGE]


def test_what_is_no_object_is_400_and_not_stored(meta: RunningSandbox) -> None:
    for body in (b"", b"{", b"[]", b"null", b'"x"', b"\xff", b"[" * 5_000, b'{"a":' * 99_999, b'{"a":NaN}'):
        assert post(meta, body).status_code == 400, body[:20]
    assert stored() == []


def test_half_a_character_in_one_message_does_not_cost_the_batch(meta: RunningSandbox) -> None:
    channel = a_channel("2001")
    body = removal("2001").replace(b'"PARTNER_REMOVED"', b'"PARTNER_REMOVED","note":"\\ud83d and \\u0000"')
    assert post(meta, body).status_code == 200
    assert stored() == [body]
    read_waiting()
    assert status_of(channel) == "error"
    assert ProviderNotice.objects.get().fault == ""


def test_what_nobody_knows_is_taken_and_read(meta: RunningSandbox) -> None:
    assert post(meta, b'{"object":"something new"}').status_code == 200
    assert read_waiting() == 1
    assert ProviderNotice.objects.get().fault == ""


def a_body(size: int) -> bytes:
    return b'{"x":"' + b"x" * (size - 8) + b'"}'


def test_a_batch_of_megabytes_is_taken_and_5_are_too_many(meta: RunningSandbox) -> None:
    assert post(meta, a_body(4 * 1024 * 1024)).status_code == 200
    for size in (4 * 1024 * 1024 + 1, 5 * 1024 * 1024):
        assert post(meta, a_body(size)).status_code == 413
    assert len(stored()) == 1


@pytest.mark.parametrize("length", ["9" * 400, "-1", "x", ""])
def test_an_odd_length_is_no_fault(meta: RunningSandbox, length: str) -> None:
    answer = Client().generic("POST", PATH, b"{}", CONTENT_LENGTH=length)
    assert answer.status_code in (403, 413)


def test_other_methods_are_not_there(meta: RunningSandbox) -> None:
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS"):
        assert Client().generic(method, PATH).status_code == 405


@pytest.mark.django_db(transaction=True)
def test_the_same_body_many_times_at_once_is_kept_once(meta: RunningSandbox) -> None:
    assert set(at_once(lambda _: post(meta, MESSAGE).status_code, times=8)) == {200}
    assert stored() == [MESSAGE]


# Reading ----------------------------------------------------------------------------------------------------


def removal(container: str, event: str = "PARTNER_REMOVED", at: float | None = None) -> bytes:
    change = {"field": "account_update", "value": {"event": event}}
    entry = {"id": container, "time": int(at or time.time()), "changes": [change]}
    return json.dumps({"object": "whatsapp_business_account", "entry": [entry]}).encode()


def revocation(account: str) -> bytes:
    change = {"field": "pages_messaging", "value": {"verb": "revoke", "target_ids": [account]}}
    entry = {"id": "0", "time": int(time.time()), "changes": [change]}
    return json.dumps({"object": "permissions", "entry": [entry]}).encode()


def a_channel(container: str, **more: Any) -> Channel:
    channel = ChannelFactory.create(**more)
    ChannelCredential.objects.create(channel=channel, token="a token", container_id=container)
    return channel


def status_of(channel: Channel) -> str:
    channel.refresh_from_db()
    return str(channel.status)


def test_a_removed_business_account_marks_its_channels_and_no_other(meta: RunningSandbox) -> None:
    one, two = a_channel("2001"), a_channel("2001")
    other, page = a_channel("2002"), a_channel("2001", platform="facebook")
    gone = a_channel("2001")
    Channel.objects.filter(pk=gone.pk).update(status="disconnected")
    post(meta, removal("2001"))
    read_waiting()
    assert [status_of(channel) for channel in (one, two, other, page, gone)] == [
        "error",
        "error",
        "active",
        "active",
        "disconnected",
    ]
    entry = ActivityEntry.objects.get(action="channel.lost", workspace_uuid=one.workspace.uuid)
    assert entry.details == {"platform": "whatsapp", "name": one.name, "reason": "PARTNER_REMOVED"}


def test_a_revoked_permission_marks_the_page_s_channel(meta: RunningSandbox) -> None:
    page = a_channel("6001", platform="facebook", external_id="6001")
    instagram = a_channel("6001", platform="instagram", external_id="7001")
    other = a_channel("6002", platform="facebook", external_id="6002")
    post(meta, revocation("6001"))
    read_waiting()
    assert [status_of(channel) for channel in (page, instagram, other)] == ["error", "error", "active"]


def test_a_notice_of_before_the_connection_says_nothing_about_it(meta: RunningSandbox) -> None:
    channel = a_channel("2001")
    post(meta, removal("2001", at=time.time() - 60))
    read_waiting()
    assert status_of(channel) == "active"


@pytest.mark.parametrize("body", [MESSAGE, removal("2001", event="VERIFIED_ACCOUNT"), removal(""), b"{}"])
def test_messages_and_other_news_mark_no_channel_and_are_kept_for_later(meta: RunningSandbox, body: bytes) -> None:
    channel = a_channel("2001")
    post(meta, body)
    read_waiting()
    assert status_of(channel) == "active"
    assert stored() == [body]


def test_what_cannot_be_read_is_marked_and_does_not_stop_the_rest(meta: RunningSandbox) -> None:
    ProviderNotice.objects.create(digest=b"x" * 32, body=b"{")
    channel = a_channel("2001")
    post(meta, removal("2001"))
    read_waiting()
    assert status_of(channel) == "error"
    assert [notice.fault for notice in ProviderNotice.objects.order_by("id")] == ["no JSON", ""]


def test_what_came_30_days_ago_is_forgotten(meta: RunningSandbox) -> None:
    for number, age in enumerate((31, 29, 0)):
        came_at = now() - timedelta(days=age)
        ProviderNotice.objects.create(digest=bytes([number]) * 32, body=b"{}", received_at=came_at)
    forget()
    assert ProviderNotice.objects.count() == 2


def test_a_lost_channel_works_again_once_it_is_reconnected(
    connecting: Tenant, customer: Customer, meta: RunningSandbox
) -> None:
    session = a_session(connecting)
    customer.connect(session)
    channel = Channel.objects.get()
    post(meta, removal(channel.credential.container_id))
    read_waiting()
    assert status_of(channel) == "error"
    assert connecting.api.get(f"{connecting.path}/channels/{channel.uuid}").json()["data"]["status"] == "error"
    again = a_session(connecting, reconnect=channel.uuid)
    customer.connect(again)
    assert outcome(again) == ("connected", None)
    assert status_of(channel) == "active"
