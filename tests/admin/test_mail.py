"""E-mails and their servers as support sees them."""

import pytest
from django.test import Client
from django.utils.timezone import now

from agency.models import Agency, Mail, MailSettings
from tests.agency.mail_servers import FROM, a_mail
from tests.factories import AgencyFactory

pytestmark = pytest.mark.django_db
SECRET = "the server's password"


@pytest.fixture
def agency() -> Agency:
    return AgencyFactory.create()


@pytest.fixture
def settings_of_mail(agency: Agency) -> MailSettings:
    server = {"host": "smtp.example.com", "port": 587, "security": "starttls", "username": "bright"}
    return MailSettings.objects.create(agency=agency, password=SECRET, from_address=FROM, **server)


def test_support_lets_a_server_carry_links_to_accounts_and_changes_nothing_else(
    support: Client, settings_of_mail: MailSettings
) -> None:
    path = f"/admin/agency/mailsettings/{settings_of_mail.pk}/change/"
    page = support.get(path)
    assert page.status_code == 200
    assert SECRET not in page.content.decode()
    assert support.post(path, {"carries_account_links": "on", "host": "evil.example"}).status_code == 302
    settings_of_mail.refresh_from_db()
    assert settings_of_mail.carries_account_links
    assert (settings_of_mail.host, settings_of_mail.password) == ("smtp.example.com", SECRET)
    assert support.post(path, {}).status_code == 302
    settings_of_mail.refresh_from_db()
    assert not settings_of_mail.carries_account_links
    assert support.get("/admin/agency/mailsettings/add/").status_code == 403
    assert support.post(path.replace("change", "delete"), {"post": "yes"}).status_code == 403
    assert b"not tested" in support.get("/admin/agency/mailsettings/").content


def test_support_sees_why_an_e_mail_did_not_arrive(support: Client, agency: Agency) -> None:
    mail = a_mail(agency, email="ada@example.com")
    Mail.objects.filter(pk=mail.pk).update(
        failure="recipient", failure_code=550, failure_text="no <b>such</b> user", failed_at=now(), given_up_at=now()
    )
    listed = support.get("/admin/agency/mail/", {"q": "ada@example.com"}).content
    assert b"Given up" in listed
    assert support.get("/admin/agency/mail/", {"q": "bob@example.com"}).context["cl"].result_count == 0
    page = support.get(f"/admin/agency/mail/{mail.pk}/change/").content
    assert b"no &lt;b&gt;such&lt;/b&gt; user" in page
