"""Configuration → E-mail, as the agency's team sees it."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail as outbox
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import ActivityEntry, Mail, MailSettings
from agency.services import queue_mail, set_carries_account_links
from agency.tasks import send_mail
from tests.agency.console.browsers import at_the_console, flashes, text
from tests.agency.mail_servers import a_mail, the_server, trusting, use_server
from tests.factories import UserFactory
from tests.fakes.smtp_server import PASSWORD, Authority, SmtpServer, smtp_server
from tests.tenants import Tenant

pytestmark = pytest.mark.django_db
PAGE = "/console/configuration/email"


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture
def server(authority: Authority, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[SmtpServer]:
    with trusting(authority, settings, monkeypatch), smtp_server(authority) as running:
        yield running


@pytest.fixture
def admin(a: Tenant) -> Client:
    return at_the_console(a.agency)


def a_failed_mail(tenant: Tenant, server: SmtpServer, **fields: Any) -> Mail:
    server.answers["RCPT"] = "550 5.1.1 no such <b>mailbox</b>"
    mail = a_mail(tenant.agency, **fields)
    send_mail()
    server.answers.clear()
    return mail


def test_an_agency_sets_tests_and_removes_its_own_server(a: Tenant, admin: Client, server: SmtpServer) -> None:
    typed = the_server(server)
    saved = admin.post(f"{PAGE}/server", typed)
    assert saved["Location"] == PAGE
    page = admin.get(PAGE)
    assert "Not tested yet" in text(page)
    assert "It has to accept a test e-mail first" in text(admin.get("/console/"))
    asked = admin.post(f"{PAGE}/test", follow=True)
    assert flashes(asked)[-1].startswith("A test e-mail to ")
    assert "On its way" in text(asked)
    assert b'http-equiv="refresh"' in asked.content
    send_mail()
    tested = admin.get(PAGE)
    assert b'http-equiv="refresh"' not in tested.content
    assert "Tested, waiting for our support" in text(tested)
    set_carries_account_links(settings=MailSettings.objects.get(), allowed=True, by=SYSTEM)
    assert "In use" in text(admin.get(PAGE))
    assert text(tested).count("worked") == 8
    for path in (PAGE, f"{PAGE}/server"):
        assert PASSWORD not in admin.get(path).content.decode()
    assert "Try again in 15 seconds" in flashes(admin.post(f"{PAGE}/test", follow=True))[-1]
    assert len(server.messages) == 1
    admin.post(f"{PAGE}/server/remove")
    assert "Our server, with your agency as the sender." in text(admin.get(PAGE))
    logged = ActivityEntry.objects.filter(agency=a.agency, action__startswith="mail.").order_by("id")
    assert [entry.action for entry in logged] == [
        "mail.server_changed",
        "mail.test_requested",
        "mail.test_sent",
        "mail.server_trusted",
        "mail.server_removed",
    ]
    assert PASSWORD not in str([(entry.details, entry.changes) for entry in logged])


def test_a_test_that_fails_says_at_which_step_and_why(admin: Client, server: SmtpServer) -> None:
    admin.post(f"{PAGE}/server", the_server(server, password="wrong"))
    admin.post(f"{PAGE}/test")
    send_mail()
    words = text(admin.get(PAGE))
    assert "Signing in failed" in words
    assert "The server did not accept the user name and the password." in words
    assert "535 5.7.8 bad credentials" in words


def test_without_a_server_of_its_own_the_test_goes_by_the_installation_s(a: Tenant, admin: Client) -> None:
    admin.post(f"{PAGE}/test")
    assert outbox.outbox == []
    send_mail()
    [sent] = outbox.outbox
    assert sent.from_email == f"{a.agency.name} <no-reply@localhost>"
    assert sent.subject == "Test e-mail"
    assert "Accepted" in text(admin.get(PAGE))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"host": "10.0.0.1"}, "The server must be publicly reachable."),
        ({"port": "25"}, "The port must be 465, 587 or one from 1024 to 65535."),
        ({"username": ""}, "A password needs a user name."),
        ({"from_address": "x"}, "Enter a valid email address."),
        ({"security": "none"}, "Select a valid choice."),
        ({"password": "a\x00b"}, "Null characters are not allowed."),
    ],
)
def test_what_is_refused_is_said_beside_its_field(
    changes: dict[str, str], words: str, admin: Client, server: SmtpServer
) -> None:
    refused = admin.post(f"{PAGE}/server", the_server(server, **changes))
    assert refused.status_code == 422
    assert words in text(refused)
    assert PASSWORD not in refused.content.decode()


def test_a_changed_server_asks_for_the_password_again(a: Tenant, admin: Client, server: SmtpServer) -> None:
    use_server(a.agency, server)
    kept = admin.post(f"{PAGE}/server", the_server(server, password="", from_address="new@bright.example"))
    assert kept.status_code == 302
    refused = admin.post(f"{PAGE}/server", the_server(server, password="", host="127.0.0.1"))
    assert "Type the password again" in text(refused)


def test_what_did_not_arrive_is_listed_with_the_reason_and_sent_again_once(
    a: Tenant, admin: Client, server: SmtpServer
) -> None:
    use_server(a.agency, server)
    mail = a_failed_mail(a, server, email="gone@example.com")
    page = admin.get(PAGE)
    assert "gone@example.com Owner Invitation" in text(page)
    assert "The server does not take e-mail for this recipient. Recipient: 550 5.1.1 no such <b>mailbox</b>" in text(
        page
    )
    assert b"<b>mailbox" not in page.content
    again = admin.post(f"{PAGE}/failures/{mail.pk}/again", follow=True)
    assert "The e-mail to gone@example.com is on its way again." in flashes(again)[-1]
    assert admin.post(f"{PAGE}/failures/{mail.pk}/again").status_code == 404
    send_mail()
    assert server.recipients == ["gone@example.com"]
    assert "Sent again" in text(admin.get(PAGE))


def test_a_viewer_looks_and_changes_nothing(a: Tenant, server: SmtpServer) -> None:
    use_server(a.agency, server)
    a_failed_mail(a, server)
    viewer = at_the_console(a.agency, "viewer")
    page = viewer.get(PAGE)
    assert "Given up" in text(page)
    assert f"{PAGE}/" not in page.content.decode()


def test_e_mails_of_others_and_about_accounts_are_not_shown(a: Tenant, b: Tenant, admin: Client) -> None:
    for agency, kind in ((b.agency, Mail.Kind.OWNER_INVITATION), (a.agency, Mail.Kind.PASSWORD_RESET)):
        mail = queue_mail(kind=kind, user=UserFactory.create(), agency=agency, context={})
        Mail.objects.filter(pk=mail.pk).update(failure="recipient", failed_at=now(), given_up_at=now())
        assert admin.post(f"{PAGE}/failures/{mail.pk}/again").status_code == 404
    assert "All e-mails were accepted." in text(admin.get(PAGE))


def test_the_page_is_bounded_and_asks_a_known_number_of_statements(a: Tenant, admin: Client) -> None:
    def statements() -> int:
        with CaptureQueriesContext(connection) as captured:
            admin.get(PAGE)
        return len(captured)

    admin.get(PAGE)
    first = statements()
    for _ in range(35):
        a_mail(a.agency)
    Mail.objects.update(failure="later", failed_at=now())
    assert statements() == first
    assert text(admin.get(PAGE)).count("Will be tried again") == 30


def test_a_server_that_rests_is_a_concern_on_the_first_page(a: Tenant, admin: Client, server: SmtpServer) -> None:
    use_server(a.agency, server)
    assert "Your mail server" not in text(admin.get("/console/"))
    MailSettings.objects.update(failures=3, failure="tls", failed_at=now(), resting_until=now() + timedelta(minutes=5))
    words = "Your mail server is failing: No trusted encrypted connection could be made. We use our server instead."
    assert words in text(admin.get("/console/"))
    assert "Paused" in text(admin.get(PAGE))


def test_support_alone_lets_a_server_carry_links_to_accounts(a: Tenant, server: SmtpServer) -> None:
    settings = use_server(a.agency, server)
    for allowed in (False, False, True):
        set_carries_account_links(settings=settings, allowed=allowed, by=SYSTEM)
    actions = ActivityEntry.objects.filter(action__startswith="mail.server_trust").order_by("id")
    assert [entry.action for entry in actions] == ["mail.server_trust_ended", "mail.server_trusted"]
