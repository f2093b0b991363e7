"""What the database itself holds about sessions, whatever the code above it does."""

from typing import Any

import pytest
from django.db import DatabaseError, IntegrityError, transaction
from django.utils.timezone import now

from channelconnect.models import ChannelCredential, ConnectSession, ConnectSettings, ProviderNotice, Unsubscription
from tests import furnished
from tests.channelconnect.agencies import a_session
from tests.factories import ChannelFactory
from tests.tenants import Tenant

a, b = furnished.a_with_customer, furnished.b_with_customer


def refuse(session: ConnectSession, rule: str, **changes: Any) -> None:
    with pytest.raises(DatabaseError, match=rule), transaction.atomic():
        ConnectSession.objects.filter(pk=session.pk).update(**changes)


def test_a_session_obeys_its_rules(connecting: Tenant, b: Tenant) -> None:
    session, digest = a_session(connecting), b"x" * 32
    refuse(session, "connect_platform_is_known", platform="telegram")
    refuse(session, "connect_status_is_known", status="lost", ended_at=now(), link=None)
    refuse(session, "connect_end_has_a_time", ended_at=now())
    refuse(session, "connect_end_has_a_time", status="cancelled", link=None)
    refuse(
        session, "connect_success_has_a_channel", status="connected", ended_at=now(), link=None, browser_digest=digest
    )
    refuse(session, "connect_success_has_a_channel", channel=connecting.channel)
    refuse(session, "connect_failure_has_a_code", status="failed", ended_at=now(), link=None)
    refuse(session, "connect_end_forgets_secrets", status="cancelled", ended_at=now())
    refuse(session, "connect_continues_in_a_browser", status="authorizing")
    refuse(session, "connect_link_is_sha256", link_digest=b"short")
    refuse(session, "connect_browser_is_sha256", browser_digest=b"short")
    refuse(session, "connect_state_is_sha256", state_digest=b"short")
    refuse(session, "sub-account of its agency", agency=b.agency)
    refuse(session, "sub-account of its agency", workspace=b.workspace)
    refuse(session, "channels of its sub-account", target=b.channel)


def test_a_key_has_the_digest_of_its_request_and_starts_one_session(connecting: Tenant) -> None:
    one, two, digest = a_session(connecting), a_session(connecting), b"x" * 32
    refuse(one, "connect_key_has_a_request", idempotency_key="k")
    refuse(one, "connect_request_is_sha256", idempotency_key="k", request_digest=b"short")
    ConnectSession.objects.filter(pk=one.pk).update(idempotency_key="k", request_digest=digest)
    refuse(two, "connect_key_used_once", idempotency_key="k", request_digest=digest)


@pytest.mark.parametrize(
    ("rule", "changes"),
    [
        ("unsubscription_status_is_known", {"status": "lost", "ended_at": now(), "token": None}),
        ("unsubscription_reason_is_known", {"reason": "boredom"}),
        ("unsubscription_end_has_a_time", {"status": "given_up", "token": None}),
        ("unsubscription_end_has_a_time", {"ended_at": now()}),
        ("unsubscription_end_forgets_the_token", {"status": "given_up", "ended_at": now()}),
    ],
)
def test_an_unsubscription_obeys_its_rules(connecting: Tenant, rule: str, changes: dict[str, Any]) -> None:
    row = Unsubscription.objects.create(
        workspace=connecting.workspace,
        platform="whatsapp",
        container_id="1",
        token="a token",
        reason="disconnected",
        status="waiting",
        due_at=now(),
    )
    with pytest.raises(DatabaseError, match=rule), transaction.atomic():
        Unsubscription.objects.filter(pk=row.pk).update(**changes)


def test_no_two_sessions_share_a_link_or_a_state(connecting: Tenant) -> None:
    one, two, digest = a_session(connecting), a_session(connecting), b"x" * 32
    ConnectSession.objects.filter(pk=one.pk).update(link_digest=digest, state_digest=digest)
    refuse(two, "link_digest", link_digest=digest)
    refuse(two, "state_digest", state_digest=digest)


def test_settings_hold_20_addresses(a: Tenant) -> None:
    with pytest.raises(IntegrityError, match="connect_at_most_20_return_urls"), transaction.atomic():
        ConnectSettings.objects.create(agency=a.agency, return_urls=["https://x.example/"] * 21)


def test_a_notice_s_digest_is_a_digest(db: None) -> None:
    with pytest.raises(IntegrityError, match="notice_digest_is_sha256"), transaction.atomic():
        ProviderNotice.objects.create(digest=b"short", body=b"{}")


def test_rows_name_themselves_without_a_secret(connecting: Tenant) -> None:
    session = a_session(connecting)
    channel = ChannelFactory.create(workspace=connecting.workspace)
    credential = ChannelCredential(channel=channel, token="a secret token", container_id="1")
    settings = ConnectSettings(agency=connecting.agency)
    named = f"{session} {session!r} {credential} {credential!r} {ProviderNotice(pk=7)} {settings}"
    assert "secret" not in named
    assert str(session.link) not in named
    assert "notice 7" in named
    assert "off" in named
