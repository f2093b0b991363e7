"""What an agency's own server refuses: tried again, given up with the reason, or stood in for."""

from datetime import timedelta
from typing import Any

import pytest
from django.core import mail as outbox
from django.utils.timezone import now

from agency.models import Mail, MailSettings
from agency.services import lease_next_mail, queue_mail, send_due_mail
from agency.services.mail import transport
from agency.tasks import send_mail
from tests.agency.mail_servers import FROM, a_mail, of, outcome, use_server
from tests.factories import UserFactory
from tests.fakes.smtp_server import HELD_SECONDS, PASSWORD, USER, Authority, SmtpServer, smtp_server
from tests.tenants import Tenant

pytestmark = pytest.mark.django_db
F = Mail.Failure


@pytest.mark.parametrize(
    ("verb", "answer", "failure", "step"),
    [
        ("RCPT", "550 5.1.1 no such user", F.RECIPIENT, "recipient"),
        ("CONTENT", "554 5.7.1 not wanted", F.CONTENT, "content"),
    ],
)
def test_what_is_refused_for_good_is_given_up_at_once_with_the_reason(
    verb: str, answer: str, failure: str, step: str, a: Tenant, server: SmtpServer
) -> None:
    use_server(a.agency, server)
    server.answers[verb] = answer
    mail = a_mail(a.agency)
    send_mail()
    assert outcome(mail) == (failure, step, int(answer[:3]))
    assert mail.given_up_at
    assert mail.failure_text == answer[4:]
    assert of(a.agency).failures == 0


def test_what_may_be_taken_later_is_tried_again(a: Tenant, server: SmtpServer) -> None:
    use_server(a.agency, server)
    server.answers["RCPT"] = "451 4.7.1 greylisted, come back"
    mail = a_mail(a.agency)
    send_mail()
    assert outcome(mail) == (F.LATER, "recipient", 451)
    assert mail.given_up_at is None
    assert of(a.agency).failures == 0
    server.answers.clear()
    Mail.objects.update(next_attempt_at=now())
    send_mail()
    assert outcome(mail) == ("", "", None)
    assert mail.sent_at


FAULTS = [
    ({"password": "wrong"}, {}, F.SIGN_IN, "sign_in"),
    ({}, {"MAIL": "550 5.7.1 not your address"}, F.SENDER, "sender"),
    ({}, {"CONNECT": "554 go away"}, F.REFUSED, "greeting"),
    ({}, {"STAR": "454 not now"}, F.LATER, "tls"),
    ({}, {"RCPT": "530 5.7.0 sign in first"}, F.SIGN_IN, "recipient"),
    ({}, {"RCPT": "550 5.7.1 relaying denied"}, F.RECIPIENT, "recipient"),
]


@pytest.mark.parametrize(("typed", "answers", "failure", "step"), FAULTS)
def test_after_three_failures_the_installation_s_server_stands_in(
    typed: dict[str, str], answers: dict[str, str], failure: str, step: str, a: Tenant, server: SmtpServer
) -> None:
    use_server(a.agency, server, **typed)
    server.answers.update(answers)
    mail = a_mail(a.agency)
    for _ in range(3):
        Mail.objects.update(next_attempt_at=now())
        mail = lease_next_mail(now=now() + timedelta(seconds=1)) or mail
        assert not send_due_mail(mail=mail, now=now())
        assert outcome(mail)[:2] == (failure, step)
    assert of(a.agency).is_resting(now())
    assert (of(a.agency).failures, of(a.agency).failure) == (3, failure)
    send_mail()
    [sent] = outbox.outbox
    assert sent.from_email == f"{a.agency.name} <no-reply@localhost>"
    assert sent.reply_to == [FROM]
    mail.refresh_from_db()
    assert (mail.sent_at is not None, mail.by_own_server) == (True, False)
    server.answers.clear()
    MailSettings.objects.update(resting_until=now())
    if not typed:  # it is tried again, and used where it works
        a_mail(a.agency)
        send_mail()
        assert len(server.messages) == 1
        assert (of(a.agency).failures, of(a.agency).resting_until, of(a.agency).failure) == (0, None, "")


def test_a_server_s_answer_gives_nothing_away(a: Tenant, server: SmtpServer) -> None:
    use_server(a.agency, server)
    server.answers["RCPT"] = f"550 <ada@example.com> {PASSWORD} \x1b[2J\u202e unknown " + "x" * 500
    mail = a_mail(a.agency, email="ada@example.com")
    send_mail()
    mail.refresh_from_db()
    assert not {"ada@example.com", PASSWORD, USER} & set(mail.failure_text.split())
    assert mail.failure_text.startswith("<…> … [2J unknown xxx")
    assert len(mail.failure_text) == 300


def test_an_e_mail_that_cannot_be_written_is_given_up_and_holds_up_no_other(a: Tenant, server: SmtpServer) -> None:
    use_server(a.agency, server)
    bad = queue_mail(kind=Mail.Kind.PASSWORD_RESET, user=UserFactory.create(), context={})
    Mail.objects.filter(pk=bad.pk).update(kind="nothing_like_it")
    good = a_mail(a.agency)
    send_mail()
    assert outcome(bad)[0] == F.UNWRITTEN
    assert bad.given_up_at
    good.refresh_from_db()
    assert good.sent_at
    assert len(server.messages) == 1


@pytest.mark.parametrize("address", ["=?utf-8?q?a=0ab?=@x.example", "x@" + "ü" * 60 + ".example", "a@"])
@pytest.mark.parametrize("is_own", [True, False])
def test_an_address_that_is_none_ends_its_own_e_mail_alone(
    address: str, is_own: bool, a: Tenant, server: SmtpServer, settings: Any
) -> None:
    settings.EMAIL_BACKEND = "config.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT, settings.EMAIL_USE_TLS = "localhost", server.port, True
    if is_own:
        use_server(a.agency, server)
    bad = a_mail(a.agency)
    Mail.objects.filter(pk=bad.pk).update(recipient=address)
    good = a_mail(a.agency)
    send_mail()
    assert outcome(bad)[0] == F.UNWRITTEN
    assert bad.given_up_at
    assert server.recipients == [good.recipient]
    good.refresh_from_db()
    assert good.sent_at


LONG = "\r\n".join(["250-x"] * 150)
NONSENSE = [
    ("AUTH", "334 abc", F.CLOSED, "sign_in"),
    ("MAIL", f"{LONG}\r\n250 ok", F.CLOSED, "sender"),
    ("MAIL", "\r\n".join([f"250-{'x' * 8000}"] * 9) + "\r\n250 ok", F.CLOSED, "sender"),
]


@pytest.mark.parametrize(("verb", "answer", "failure", "step"), NONSENSE)
def test_an_answer_that_is_no_answer_is_the_server_s_failure(
    verb: str, answer: str, failure: str, step: str, a: Tenant, server: SmtpServer
) -> None:
    use_server(a.agency, server)
    server.answers[verb] = answer
    mail = a_mail(a.agency)
    send_mail()
    assert outcome(mail)[:2] == (failure, step)
    assert of(a.agency).failures == 1


def test_a_server_that_refuses_one_recipient_after_another_fails(a: Tenant, server: SmtpServer) -> None:
    use_server(a.agency, server)
    a_mail(a.agency)
    send_mail()
    server.answers["RCPT"] = "550 5.1.1 no such user"
    mails = [a_mail(a.agency, email=f"person-{number}@example.com") for number in range(5)]
    for _ in range(4):
        for number, mail in enumerate(mails):
            due_at = now() + timedelta(seconds=number - len(mails))
            Mail.objects.filter(pk=mail.pk, given_up_at=None).update(next_attempt_at=due_at)
        send_mail()
    for mail in mails:
        mail.refresh_from_db()
    assert [mail.given_up_at is not None for mail in mails] == [True, True, False, False, False]
    assert of(a.agency).is_resting(now())
    assert sorted(sent.to[0] for sent in outbox.outbox) == [mail.recipient for mail in mails[2:]]


def test_who_gives_no_answer_to_the_content_is_asked_once_more_and_counts_as_no_failure(
    a: Tenant, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may have taken it. Within the e-mail's time it may be slower than at any other step."""
    monkeypatch.setattr(transport, "OWN_SECONDS", 60.0)
    monkeypatch.setattr(transport, "OWN_SILENCE_SECONDS", 5.0)
    with smtp_server(authority) as server:
        use_server(a.agency, server)
        server.delay_at_content = 5.5
        slow = a_mail(a.agency)
        send_mail()
        assert outcome(slow)[0] == ""
        monkeypatch.setattr(transport, "OWN_SECONDS", 8.0)
        server.delay_at_content = HELD_SECONDS
        mail = a_mail(a.agency)
        for is_given_up in (False, True):
            Mail.objects.filter(pk=mail.pk).update(next_attempt_at=now())
            send_mail()
            assert outcome(mail) == (F.UNANSWERED, "content", None)
            assert (mail.given_up_at is not None) == is_given_up
        assert of(a.agency).failures == 0
    assert outbox.outbox == []
