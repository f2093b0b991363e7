"""An agency's own mail server as it is named: checked at saving, tested, trusted by support."""

from datetime import timedelta
from typing import Any

import pytest
from cryptography.fernet import Fernet
from django.core.management import call_command
from django.db import connection
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import Mail
from agency.services import (
    change_mail_server,
    lease_next_mail,
    remove_mail_server,
    request_test_mail,
    send_due_mail,
    set_carries_account_links,
)
from agency.services.mail.settings import JustTested, PasswordNeeded, PortRefused, waits_for_test
from agency.services.mail.transport import ServerRefused
from agency.tasks import send_mail
from config.errors import InvalidInput
from tests.agency.mail_servers import a_mail, of, outcome, the_server, use_server
from tests.factories import UserFactory
from tests.fakes.smtp_server import PASSWORD, SmtpServer
from tests.tenants import Tenant

pytestmark = pytest.mark.django_db


def test_a_server_is_used_once_it_took_a_test_e_mail_as_it_is_set(a: Tenant, server: SmtpServer) -> None:
    values: Any = the_server(server)
    person = UserFactory.create(email="owner@example.com")
    change_mail_server(agency=a.agency, by=SYSTEM, **values)
    change_mail_server(agency=a.agency, by=SYSTEM, **{**values, "password": None})  # the one there is stays
    assert not of(a.agency).is_used(now())
    moment = now()
    request_test_mail(agency=a.agency, user=person, now=moment, by=SYSTEM)
    assert server.recipients == []
    send_mail()
    assert server.recipients == ["owner@example.com"]
    assert not of(a.agency).is_used(now())
    set_carries_account_links(settings=of(a.agency), allowed=True, by=SYSTEM)
    assert of(a.agency).is_used(now())
    steps = ["lookup", "connect", "greeting", "tls", "sign_in", "sender", "recipient", "content"]
    assert of(a.agency).test_report == {"to": "owner@example.com", "steps": steps}
    with pytest.raises(JustTested):
        request_test_mail(agency=a.agency, user=person, now=moment + timedelta(seconds=14), by=SYSTEM)
    change_mail_server(agency=a.agency, by=SYSTEM, **{**values, "from_address": "other@bright.example"})
    assert not of(a.agency).is_used(now())


def test_a_test_says_how_far_it_came(a: Tenant, server: SmtpServer) -> None:
    values: Any = the_server(server, password="wrong")
    change_mail_server(agency=a.agency, by=SYSTEM, **values)
    request_test_mail(agency=a.agency, user=UserFactory.create(), now=now(), by=SYSTEM)
    send_mail()
    report = of(a.agency).test_report
    assert report["steps"][-1] == report["failure_step"] == "sign_in"
    assert (report["failure"], report["failure_code"]) == ("sign_in", 535)
    assert not of(a.agency).verified_at
    Mail.objects.update(next_attempt_at=now())
    send_mail()  # nobody tries again by themselves
    assert server.verbs.count("AUTH") == 1


def test_a_test_counts_for_the_server_that_it_was_sent_by(a: Tenant, server: SmtpServer) -> None:
    """What is changed while a test is on its way was not tested; a new one takes the place of one that waits."""
    person = UserFactory.create()
    values: Any = the_server(server)
    change_mail_server(agency=a.agency, by=SYSTEM, **values)
    request_test_mail(agency=a.agency, user=person, now=now() - timedelta(minutes=1), by=SYSTEM)
    request_test_mail(agency=a.agency, user=person, now=now(), by=SYSTEM)
    assert waits_for_test(of(a.agency), now())
    leased = lease_next_mail(now=now() + timedelta(seconds=1))
    assert leased
    change_mail_server(agency=a.agency, by=SYSTEM, **{**values, "from_address": "other@bright.example"})
    assert send_due_mail(mail=leased, now=now())
    assert (of(a.agency).verified_at, of(a.agency).test_report) == (None, {})
    send_mail()
    assert len(server.messages) == 1


def test_a_test_that_could_not_leave_in_ten_minutes_is_given_up(a: Tenant, server: SmtpServer) -> None:
    moment = now()
    mail = request_test_mail(agency=a.agency, user=UserFactory.create(), now=moment, by=SYSTEM)
    assert waits_for_test(of(a.agency), moment + timedelta(minutes=9))
    assert not waits_for_test(of(a.agency), moment + timedelta(minutes=11))
    Mail.objects.filter(pk=mail.pk).update(created_at=moment - timedelta(minutes=11))
    send_mail()
    mail.refresh_from_db()
    assert (mail.sent_at, mail.given_up_at is not None, server.messages) == (None, True, [])


NO_NAMES = ["smtp.example.com\r\nX: y", "a b.example", "user@smtp.example.com", "smtp.example.com/x", "0x7f.1", ""]


@pytest.mark.parametrize("host", NO_NAMES)
def test_a_server_s_name_is_a_name_and_no_more(host: str, a: Tenant, server: SmtpServer) -> None:
    values: Any = the_server(server, host=host)
    with pytest.raises(ServerRefused):
        change_mail_server(agency=a.agency, by=SYSTEM, **values)


@pytest.mark.parametrize("port", [0, 22, 25, 80, 443, 1023, 65536])
def test_ports_are_those_of_submission(port: int, a: Tenant, server: SmtpServer) -> None:
    values: Any = the_server(server, port=port)
    with pytest.raises(PortRefused):
        change_mail_server(agency=a.agency, by=SYSTEM, **values)


def test_a_kept_password_goes_to_no_other_server(a: Tenant, server: SmtpServer) -> None:
    use_server(a.agency, server)
    for change in ({"host": "127.0.0.1"}, {"port": 2525}, {"username": "other"}):
        values: Any = the_server(server, password=None, **change)
        with pytest.raises(PasswordNeeded):
            change_mail_server(agency=a.agency, by=SYSTEM, **values)
    remove_mail_server(agency=a.agency, by=SYSTEM)
    assert of(a.agency).password is None


def test_the_password_is_encrypted_and_its_key_can_be_rotated(a: Tenant, server: SmtpServer, settings: Any) -> None:
    use_server(a.agency, server)
    with connection.cursor() as cursor:
        cursor.execute("SELECT password FROM agency_mailsettings")
        before = bytes(cursor.fetchone()[0])
    assert PASSWORD.encode() not in before
    old = settings.FIELD_ENCRYPTION_KEYS
    settings.FIELD_ENCRYPTION_KEYS = [Fernet.generate_key().decode(), *old]
    call_command("rotate_encryption_keys")
    settings.FIELD_ENCRYPTION_KEYS = settings.FIELD_ENCRYPTION_KEYS[:1]
    a_mail(a.agency)
    send_mail()
    assert len(server.messages) == 1
    settings.FIELD_ENCRYPTION_KEYS = old  # as if the new key had been lost
    mail = a_mail(a.agency)
    send_mail()
    assert outcome(mail)[0] == Mail.Failure.UNREADABLE


def test_credentials_outside_ascii_are_refused_and_a_sender_s_domain_is_written_in_ascii(
    a: Tenant, server: SmtpServer
) -> None:
    for field in ("username", "password"):
        values: Any = the_server(server, **{field: "grüße"})
        with pytest.raises(InvalidInput) as refused:
            change_mail_server(agency=a.agency, by=SYSTEM, **values)
        assert list(refused.value.errors) == [field]
    use_server(a.agency, server, from_address="Hello@Bücher.example")
    assert of(a.agency).from_address == "hello@xn--bcher-kva.example"
    a_mail(a.agency)
    send_mail()
    [(sender, _, message)] = server.messages
    assert sender == "hello@xn--bcher-kva.example"
    assert message["Message-ID"].endswith("@xn--bcher-kva.example>")


def test_trust_is_for_one_server_and_one_name_to_sign_in_with(a: Tenant, server: SmtpServer) -> None:
    for change in ({"host": "127.0.0.1"}, {"port": 2525}, {"username": "other"}):
        use_server(a.agency, server)
        values: Any = the_server(server, from_address="other@bright.example")
        change_mail_server(agency=a.agency, by=SYSTEM, **values)
        assert of(a.agency).carries_account_links
        change_mail_server(agency=a.agency, by=SYSTEM, **{**values, **change})
        assert not of(a.agency).carries_account_links
