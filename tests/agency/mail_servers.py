"""Agencies with mail servers of their own, on loopback."""

from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_network
from typing import Any

from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import Agency, Mail, MailSettings
from agency.services import change_mail_server, queue_mail
from config.smtp import tls_context
from tests.factories import UserFactory
from tests.fakes.smtp_server import NAME, PASSWORD, USER, Authority, SmtpServer

LOOPBACK = [ip_network("127.0.0.0/8"), ip_network("::1/128")]
FROM = "hello@bright.example"


@contextmanager
def trusting(authority: Authority, settings: Any, monkeypatch: Any) -> Iterator[None]:
    """Let loopback be reached, and trust this authority."""
    settings.WEBHOOK_ALLOWED_NETWORKS = LOOPBACK
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
    tls_context.cache_clear()
    yield
    tls_context.cache_clear()


def the_server(server: SmtpServer, **changes: Any) -> dict[str, Any]:
    """What an agency types about a server."""
    values = {"host": NAME, "port": server.port, "username": USER, "password": PASSWORD, "from_address": FROM}
    return {**values, "security": "tls" if server.at_once else "starttls", **changes}


def use_server(agency: Agency, server: SmtpServer, **changes: Any) -> MailSettings:
    """Give an agency a server that has taken a test e-mail."""
    values: Any = the_server(server, **changes)
    change_mail_server(agency=agency, by=SYSTEM, **values)
    MailSettings.objects.filter(agency=agency).update(verified_at=now(), carries_account_links=True)
    return MailSettings.objects.get(agency=agency)


def a_mail(agency: Agency, **fields: Any) -> Mail:
    """An invitation that waits, to somebody new."""
    context = {"agency": agency.name, "workspace": "Corner Salon"}
    return queue_mail(
        kind=Mail.Kind.OWNER_INVITATION, user=UserFactory.create(**fields), agency=agency, context=context
    )


def of(agency: Agency) -> MailSettings:
    return MailSettings.objects.get(agency=agency)


def outcome(mail: Mail) -> tuple[str, str, int | None]:
    mail.refresh_from_db()
    return mail.failure, mail.failure_step, mail.failure_code
