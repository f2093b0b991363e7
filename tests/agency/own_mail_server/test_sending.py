"""E-mails by an agency's own server: guarded, bounded, and beside everybody else's."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core import mail as outbox
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import Mail, MailSettings, PendingSignUp
from agency.services import change_mail_server, queue_mail, send_due_mails
from agency.services.mail import sending, transport
from agency.services.mail.content import queue_confirmation, queue_known_address
from agency.services.mail.queue import is_mail_healthy
from agency.services.mail.transport import ServerRefused
from agency.tasks import send_mail
from tests.agency.invitations import invited
from tests.agency.mail_servers import FROM, a_mail, outcome, the_server, use_server
from tests.factories import UserFactory
from tests.fakes.smtp_server import Authority, SmtpServer, smtp_server
from tests.tenants import Tenant
from tests.waiting import PATIENCE_SECONDS, until

pytestmark = pytest.mark.django_db
F = Mail.Failure


@pytest.mark.parametrize("at_once", [False, True])
def test_an_e_mail_goes_by_the_own_server_from_its_own_address(a: Tenant, authority: Authority, at_once: bool) -> None:
    with smtp_server(authority, at_once=at_once) as server:
        use_server(a.agency, server)
        mail = a_mail(a.agency, email="ada@example.com")
        send_mail()
    [(sender, recipient, message)] = server.messages
    assert (sender, recipient) == (FROM, "ada@example.com")
    assert message["From"] == f"{a.agency.name} <{FROM}>"
    assert outbox.outbox == []
    mail.refresh_from_db()
    assert (mail.by_own_server, mail.failure) == (True, "")
    assert mail.sent_at


def test_a_certificate_for_another_name_or_of_nobody_is_refused(
    a: Tenant, b: Tenant, authority: Authority, tmp_path: Path
) -> None:
    with (
        smtp_server(authority, name="other.example") as other,
        smtp_server(Authority(tmp_path), at_once=True) as unknown,
    ):
        use_server(a.agency, other)
        use_server(b.agency, unknown)
        mails = [a_mail(a.agency), a_mail(b.agency)]
        send_mail()
        assert [outcome(mail) for mail in mails] == [(F.TLS, "tls", None)] * 2
        assert not {"AUTH", "MAIL"} & {*other.verbs, *unknown.verbs}


def test_a_server_that_offers_no_encryption_never_sees_the_password(a: Tenant) -> None:
    with smtp_server() as server:
        use_server(a.agency, server)
        mail = a_mail(a.agency)
        send_mail()
        assert outcome(mail)[:2] == (F.TLS, "tls")
        assert not {"AUTH", "MAIL"} & set(server.verbs)


@pytest.mark.parametrize("host", ["127.0.0.1", "10.0.0.1", "169.254.169.254", "[::1]", "localhost", "192.0.2.1"])
def test_addresses_of_the_inside_are_refused_at_saving_and_at_every_connection(
    host: str, a: Tenant, server: SmtpServer, settings: Any
) -> None:
    if host in {"localhost", "127.0.0.1"}:
        use_server(a.agency, server, host=host)
    settings.WEBHOOK_ALLOWED_NETWORKS = []
    values: Any = the_server(server, host=host)
    with pytest.raises(ServerRefused, match="publicly reachable"):
        change_mail_server(agency=a.agency, by=SYSTEM, **values)
    if host in {"localhost", "127.0.0.1"}:
        mail = a_mail(a.agency)
        send_mail()
        assert outcome(mail)[:2] == (F.BLOCKED, "lookup")
        assert server.verbs == []


def test_the_connection_goes_to_the_address_that_was_approved(
    a: Tenant, server: SmtpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that leads elsewhere a moment later leads nowhere else."""
    use_server(a.agency, server)
    answers = iter([("127.0.0.1",)])
    monkeypatch.setattr(transport.resolver(), "_look_up", lambda host: next(answers))
    a_mail(a.agency)
    send_due_mails(seconds=5)
    assert len(server.messages) == 1
    assert not list(answers)


def test_a_server_that_says_nothing_holds_up_nobody_else(
    a: Tenant, b: Tenant, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its first e-mail has time until the others are sent, whenever that is; its second one has little."""
    monkeypatch.setattr(transport, "OWN_SECONDS", 600.0)
    with smtp_server(authority) as slow, smtp_server(authority) as quick:
        slow.silent_at = "MAIL"
        use_server(a.agency, slow)
        use_server(b.agency, quick)
        stuck = [a_mail(a.agency) for _ in range(2)]
        others = [a_mail(b.agency) for _ in range(3)]
        resets = [queue_mail(kind=Mail.Kind.PASSWORD_RESET, user=UserFactory.create(), context={}) for _ in range(3)]

        def hang_up() -> None:
            assert slow.held.wait(PATIENCE_SECONDS)
            until(lambda: (len(quick.messages), len(outbox.outbox)) == (3, 3), what="the others")
            monkeypatch.setattr(transport, "OWN_SECONDS", 10.0)
            slow.hang_up()

        with ThreadPoolExecutor(1) as pool:
            done = pool.submit(hang_up)
            send_due_mails(seconds=120)
            done.result()
        assert [outcome(mail)[:2] for mail in stuck] == [(F.CLOSED, "sender"), (F.TIMEOUT, "sender")]
        assert quick.most == slow.most == 1
        for mail in (*others, *resets):
            mail.refresh_from_db()
            assert mail.sent_at


def test_no_more_than_a_few_own_servers_are_spoken_to_at_once(
    authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "OWN_SERVERS_AT_ONCE", 2)
    tenants = [Tenant() for _ in range(4)]
    with smtp_server(authority) as server:
        for tenant in tenants:
            use_server(tenant.agency, server)
            a_mail(tenant.agency)
        send_mail()
        assert len(server.messages) == 4
        assert server.most <= 2


def test_an_own_server_that_fails_is_no_fault_of_the_installation(a: Tenant, server: SmtpServer) -> None:
    use_server(a.agency, server)
    server.answers["RCPT"] = "451 later"
    for _ in range(4):
        a_mail(a.agency)
    send_mail()
    Mail.objects.update(attempts=5, next_attempt_at=now() - timedelta(hours=1))
    assert is_mail_healthy()


@pytest.mark.parametrize("is_trusted", [False, True])
def test_the_kind_and_our_support_s_word_alone_say_by_whose_server_an_e_mail_goes(
    is_trusted: bool, a: Tenant, server: SmtpServer
) -> None:
    """Whoever runs a server could read the links, and which way an e-mail goes would tell who has an account."""
    use_server(a.agency, server)
    MailSettings.objects.update(carries_account_links=is_trusted)
    known = UserFactory.create(email="known@example.com", password="long-known-password")
    a_mail(a.agency, email="first@example.com")
    for email in ("known@example.com", "nobody@example.com"):
        invited(a.agency, email)
    written = {"name": "Eve", "password": "!", "business": "Salon", "timezone": "UTC"}
    ends = now() + timedelta(days=1)
    pending = PendingSignUp.objects.create(
        agency=a.agency, email="stranger@example.com", expires_at=ends, is_looked_up=True, **written
    )
    queue_confirmation(pending)
    queue_mail(kind=Mail.Kind.PASSWORD_RESET, user=known, agency=a.agency, context={})
    queue_known_address(user=known, agency=a.agency, may_add=True)
    send_mail()
    send_mail()
    of_agency = ["first@example.com", "known@example.com", "nobody@example.com", "stranger@example.com"]
    assert sorted(server.recipients) == (of_agency if is_trusted else [])
    by_installation = sorted(sent.to[0] for sent in outbox.outbox)
    assert by_installation == sorted([*([] if is_trusted else of_agency), "known@example.com", "known@example.com"])


def test_an_agency_s_hour_counts_both_servers_together(a: Tenant, server: SmtpServer, settings: Any) -> None:
    settings.AGENCY_MAIL_LIMIT = 3
    use_server(a.agency, server)
    for _ in range(2):
        a_mail(a.agency)
    send_mail()
    assert len(server.messages) == 2
    MailSettings.objects.update(resting_until=now() + timedelta(minutes=5))
    for _ in range(2):
        a_mail(a.agency)
    send_mail()
    assert len(outbox.outbox) == 1


def test_the_number_of_statements_for_an_e_mail_is_known(
    a: Tenant, server: SmtpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agency.services.mail.sending.POLL_SECONDS", 30.0)  # a slow machine would look more often
    use_server(a.agency, server)
    counts = []
    for size in (1, 3):
        for _ in range(size):
            a_mail(a.agency)
        with CaptureQueriesContext(connection) as captured:
            send_due_mails(seconds=5)
        counts.append(len(captured))
    assert len(server.messages) == 4
    assert (counts[1] - counts[0]) / 2 == 19


def test_what_is_said_after_the_e_mail_was_taken_changes_nothing(a: Tenant, server: SmtpServer) -> None:
    use_server(a.agency, server)
    server.answers["QUIT"] = f"221 {'x' * 9000}"
    mail = a_mail(a.agency)
    send_mail()
    assert outcome(mail) == ("", "", None)
    assert mail.sent_at
