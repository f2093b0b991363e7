"""No secret of the system is in a log, a trace, a metric, an answer to a fault, or what it records of changes."""

import io
import json
import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.contrib.auth.tokens import default_token_generator
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import ActivityEntry, Event, Mail, MailSettings, RecoveryCode, TwoFactor, User
from agency.services.mail.content import sign_up_signer
from agency.tenants import Tenant as Owner
from broadcasts.services.tracked_links import token_of
from channelconnect.models import ChannelCredential
from config.logs import JSONFormatter, PlainFormatter
from config.operations.exporter import gather
from tests import furnished
from tests.agency.invitations import invited, mailed_link
from tests.agency.two_factor import an_app
from tests.channelconnect.agencies import a_session, switch_on
from tests.channelconnect.customer import link_of, path_of
from tests.factories import StaffFactory, a_file
from tests.factories.appointments import AppointmentFactory
from tests.factories.finance import an_issued_invoice
from tests.tenants import Tenant, an_address
from tests.workspaces.appointments.public.salons import Visitor, a_class, a_salon
from tools.sandbox.graph.tokens import Token, write
from webhooks.models import Endpoint
from webhooks.services.deliveries import send_test
from webhooks.services.endpoints import register_endpoint, rotate_secret
from workspaces.appointments.services.calendar_feeds import create_feed, feed_url
from workspaces.media.models import Media

a = furnished.a_with_customer

pytestmark = pytest.mark.django_db
PASSWORD = "tulip-correct-horse-staple"
SMTP_PASSWORD = "orchid-correct-horse-staple"

A_SERVER = {
    "host": "smtp.example.com",
    "port": 587,
    "security": "starttls",
    "username": "ada",
    "password": SMTP_PASSWORD,
    "from_address": "ada@example.com",
}


@dataclass
class Secrets:
    """The secrets by what they are; `links` are whole paths that hold one of them, `shapeless` look like any text."""

    values: dict[str, str] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    shapeless: dict[str, str] = field(default_factory=dict)

    def link(self, name: str, path: str) -> None:
        self.links[name] = path
        self.values[name] = max(path.split("/"), key=len).removesuffix(".ics")

    def found_in(self, text: str) -> list[str]:
        return [name for name, secret in {**self.values, **self.shapeless}.items() if secret in text]


@pytest.fixture
def person(a: Tenant) -> User:
    return User.objects.create_user("ada@example.com", PASSWORD)


@pytest.fixture
def secrets(a: Tenant, person: User) -> Secrets:
    """One of each kind."""
    found = Secrets()
    endpoint = register_endpoint(
        tenant=Owner(a.agency.pk), url="https://93.184.215.14/in", events=["workspace.created"], by=SYSTEM
    )
    token = write(Token(person="ann", kind="SYSTEM_USER", granted=()), "app-secret")
    ChannelCredential.objects.create(channel=a.channel, token=token, container_id="2010000")
    found.values |= {
        "agency key": a.plaintext,
        "workspace key": a.workspace_plaintext,
        "webhook secret": str(endpoint.secret),
        "provider token": token,
    }
    uid = urlsafe_base64_encode(force_bytes(person.pk))
    found.link("reset link", f"/account/set-password/{uid}/{default_token_generator.make_token(person)}")
    invited(a.agency, "nora@example.com")
    found.link("invitation", mailed_link())
    found.link("sign-up", f"/sign-up/confirm/{sign_up_signer().sign('0' * 32)}")
    found.link("connect link", path_of(link_of(a_session(switch_on(a)))))
    found.link("file", a_file(a.workspace).path)
    found.link("tracked link", f"/l/{token_of(4711, 4712, 1)}")
    found.link("appointment", f"/book/manage/{AppointmentFactory.create(workspace=a.workspace).token}")
    found.link("seat", Visitor().book_class(a_class(a_salon(a.agency))))
    found.link("pay page", f"/pay/{an_issued_invoice(a.workspace, contact=a.contact).token}")
    feed = create_feed(staff=StaffFactory.create(workspace=a.workspace), now=now(), by=SYSTEM)
    found.link("calendar", urlsplit(feed_url(feed)).path)
    found.values["payment provider's key"] = "rk_live_" + "5" * 99
    app = an_app(person)
    MailSettings.objects.update_or_create(agency=a.agency, defaults=A_SERVER)
    found.shapeless |= {"two-factor secret": app.secret, "password": PASSWORD, "SMTP password": SMTP_PASSWORD}
    found.shapeless |= {f"recovery code {number}": code for number, code in enumerate(app.codes)}
    return found


@pytest.fixture
def logs() -> Iterator[io.StringIO]:
    """Whatever the system logs, as machines and as people read it."""
    stream, root = io.StringIO(), logging.getLogger()
    handlers = [logging.StreamHandler(stream), logging.StreamHandler(stream)]
    handlers[0].setFormatter(JSONFormatter())
    handlers[1].setFormatter(PlainFormatter())
    level = root.level
    root.setLevel(logging.DEBUG)
    for handler in handlers:
        root.addHandler(handler)
    yield stream
    root.setLevel(level)
    for handler in handlers:
        root.removeHandler(handler)


def a_browser() -> Client:
    return Client(raise_request_exception=False, REMOTE_ADDR=an_address())


def during_a_fault(browser: Client, method: str, path: str, **more: Any) -> Any:
    """Call while no table can be found, which nobody foresees: with a trace in the log."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL search_path TO nowhere")
        answer = browser.generic(method, path, **more)
        transaction.set_rollback(True)
    return answer


def test_no_log_holds_the_link_that_was_opened(secrets: Secrets, logs: io.StringIO) -> None:
    browser, answers = a_browser(), []
    for path in secrets.links.values():
        asked = (path, f"/api/v1{path}", f"/app{path}", f"{path}/more", f"/account/sign-in?next={path}")
        for answer in (*(browser.get(one) for one in asked), browser.post(path)):
            answers.append(answer.status_code)
            answer.close()
    assert {200, 404} <= set(answers)
    assert secrets.found_in(logs.getvalue()) == []
    assert logs.getvalue().count("…") > len(secrets.links)


def test_no_log_and_no_answer_of_a_fault_holds_the_link_that_was_opened(secrets: Secrets, logs: io.StringIO) -> None:
    for path in secrets.links.values():
        answer = during_a_fault(a_browser(), "GET", path)
        if answer.status_code >= 500:
            assert secrets.found_in(answer.content.decode()) == []
    assert "Traceback" in logs.getvalue()
    assert secrets.found_in(logs.getvalue()) == []


def test_no_log_holds_the_key_that_was_sent(secrets: Secrets, logs: io.StringIO) -> None:
    for secret in (text for name, text in secrets.values.items() if name not in secrets.links):
        for headers in ({"x-api-key": secret}, {"authorization": f"Bearer {secret}"}, {"x-request-id": secret[:128]}):
            for path in ("/api/agency/v1/plans", "/api/v1/contacts", f"/api/v1/contacts?key={secret}"):
                a_browser().get(path, headers=headers)
                during_a_fault(a_browser(), "GET", path, headers=headers)
    assert "database fault" in logs.getvalue()
    assert secrets.found_in(logs.getvalue()) == []


def test_no_trace_holds_what_an_exception_quotes(secrets: Secrets, logs: io.StringIO) -> None:
    quoted = [*secrets.links.values(), *(text for name, text in secrets.values.items() if name not in secrets.links)]
    for text in quoted:
        try:
            raise ValueError(f"https://app.example.com{text}" if text.startswith("/") else text)
        except ValueError as error:
            logging.getLogger("x").exception("could not fetch %s", text, extra={"address": text, "error": repr(error)})
    assert logs.getvalue().count("Traceback") == 2 * len(quoted)
    assert secrets.found_in(logs.getvalue()) == []


def test_no_trace_holds_the_row_that_the_database_quotes(a: Tenant, secrets: Secrets, logs: io.StringIO) -> None:
    other = a_file(a.workspace)
    for refused in (
        lambda: Media.objects.filter(pk=other.pk).update(token=secrets.values["file"]),
        lambda: MailSettings.objects.update(port=None),
    ):
        try:
            with transaction.atomic():
                refused()
        except IntegrityError:
            logging.getLogger("x").exception("refused")
    assert logs.getvalue().count("DETAIL: …") == 2 * 2 * 2  # the driver's error and Django's, in both forms
    assert secrets.found_in(logs.getvalue()) == []


def test_no_log_holds_what_somebody_signs_in_with(secrets: Secrets, logs: io.StringIO, person: User) -> None:
    browser = a_browser()
    codes = [text for name, text in secrets.shapeless.items() if name.startswith("recovery")]
    for form in ({"email": person.email, "password": PASSWORD}, {"email": PASSWORD, "password": PASSWORD}):
        browser.post("/account/sign-in", form)
        during_a_fault(a_browser(), "POST", "/account/sign-in", data=json.dumps(form), content_type="application/json")
    for code in (codes[0], codes[0], *codes[1:]):
        browser.post("/account/recovery-code", {"code": code})
    session = browser.cookies[settings.SESSION_COOKIE_NAME].value
    during_a_fault(browser, "GET", "/console/")
    during_a_fault(browser, "GET", "/account/security")
    assert session not in logs.getvalue()
    assert secrets.found_in(logs.getvalue()) == []


@pytest.mark.django_db(transaction=True)  # who reads metrics closes the connection
def test_no_metric_no_record_and_no_representation_holds_one(a: Tenant, secrets: Secrets, logs: io.StringIO) -> None:
    endpoint = Endpoint.objects.get()
    send_test(endpoint=endpoint, event="workspace.created", now=now(), by=SYSTEM)
    rotate_secret(endpoint=endpoint, by=SYSTEM)
    a_browser().get(secrets.links["file"]).close()
    out = io.StringIO()
    call_command("rotate_encryption_keys", stdout=out)
    kept: list[Mapping[str, Any]] = [row for model in (ActivityEntry, Event) for row in model._default_manager.values()]
    rows = [
        *Endpoint.objects.all(),
        *ChannelCredential.objects.all(),
        *MailSettings.objects.all(),
        *Mail.objects.all(),
        *TwoFactor.objects.all(),
        *RecoveryCode.objects.all(),
        a.agency,
        a.workspace,
        a.key,
    ]
    shown = [repr(row) for row in rows] + [str(row) for row in rows] + [str(family) for family in gather()]
    assert len(kept) > 3
    assert secrets.found_in("\n".join([*shown, *map(str, kept), out.getvalue(), logs.getvalue()])) == []
