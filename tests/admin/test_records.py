"""What support may read: everything that helps, nothing that is secret, and no page that counts millions."""

import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from inspect import getattr_static
from itertools import product
from typing import Any

import pytest
from django.conf import settings
from django.contrib import admin
from django.db import connection
from django.db.models import Model
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import DjangoDbBlocker

from agency.actors import SYSTEM
from agency.admin.base import MOST_ROWS, ReadOnlyAdmin
from agency.models import ActivityEntry, Agency, AgencyKey, BulkOperation, Event, Export, PushSubscription
from agency.services import issue_agency_key, revoke_agency_key
from agency.services.notifications.devices import vapid_key_of
from broadcasts.models import Rate
from broadcasts.services.editing import create_broadcast
from channelconnect.inbox.claims import store_notice
from channelconnect.models import ChannelCredential
from channelconnect.services.sessions.creation import create_session
from channelconnect.services.settings import set_return_urls, switch_connect
from config.tries.counting import begin_tries
from tests.admin.conftest import a_workspace, an_agency
from tests.database.emptying import empty_database
from tests.factories import (
    ChannelFactory,
    ContactFactory,
    ProductFactory,
    SegmentFactory,
    UserFactory,
    WorkspaceMemberFactory,
    catalogue_ids,
)
from tests.factories.appointments import AppointmentFactory, a_time_off, tomorrow
from tests.factories.finance import invoice_ids
from tests.packs.client import an_automation
from tests.webhooks.delivering import make_deliveries
from tests.workspaces.conversations.facts import receive, received
from webhooks.models import Attempt, Delivery, Endpoint
from webhooks.services.endpoints import new_secret
from workspaces.appointments.services.booking import hold_time
from workspaces.appointments.services.calendar_feeds import create_feed
from workspaces.automations.engine.loop import run_due
from workspaces.automations.models import Automation
from workspaces.classes.models import ClassSession, WaitingListEntry
from workspaces.contacts.services.tasks import create_task
from workspaces.finance.models import Checkout, Invoice, Payment, ProviderAccount
from workspaces.finance.services.refunds import refund_payment
from workspaces.finance.services.settings import change_finance_settings
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import (
    connect_channel,
    disconnect_channel,
    grant_addon,
    issue_workspace_key,
    restore_workspace,
    suspend_workspace,
)

pytestmark = [pytest.mark.slow, pytest.mark.django_db]

COUNT = re.compile(r"SELECT COUNT\(", re.IGNORECASE)
PAGES_OF_RECORDS = [page for page in admin.site._registry.values() if isinstance(page, ReadOnlyAdmin)]
RECORDS = [page.model for page in PAGES_OF_RECORDS]


def fill(workspace: Workspace) -> list[str]:
    """Fill every kind of record and give the secrets that were made on the way."""
    agency, now = workspace.agency, timezone.now()
    catalogue_ids(workspace, "mark")
    waits = ContactFactory.create(workspace=workspace)
    WaitingListEntry.objects.create(session=ClassSession.objects.latest("id"), contact=waits)
    invoice_ids(workspace, "mark", ContactFactory.create(workspace=workspace))
    account = ProviderAccount.objects.create(workspace=workspace, key="rk_live_secret", webhook_secret="whsec_secret")
    paid = Payment.objects.latest("id")
    Checkout.objects.create(
        invoice=paid.invoice, account=account, amount=1, currency="USD", address="https://pay.example/x", expires_at=now
    )
    refund_payment(payment=paid, amount=1, now=now, by=SYSTEM)
    change_finance_settings(workspace=workspace, now=now, by=SYSTEM, payment_days=7)
    booked = AppointmentFactory.create(workspace=workspace)
    a_time_off(booked.staff)
    feed = create_feed(staff=booked.staff, now=now, by=SYSTEM)
    hold_time(
        workspace=workspace,
        service=booked.service,
        contact=ContactFactory.create(workspace=workspace),
        starts_at=tomorrow(14),
        expires_at=now,
        now=now,
    )
    SegmentFactory.create(workspace=workspace)
    create_task(workspace=workspace, title="Call", now=now, by=SYSTEM)
    number = ChannelFactory.create(workspace=workspace)
    Automation.objects.filter(pk=an_automation(workspace).pk).update(enabled=True)
    receive(received(number))
    run_due()
    everybody = {"type": "segment", "segment": "all"}
    create_broadcast(
        workspace=workspace, name="Sale", channel=number, audience=everybody, message={"text": "x"}, now=now, by=SYSTEM
    )
    Rate.objects.create(currency="EUR", category="marketing", market="DE", valid_from=now.date(), price="0.11")
    WorkspaceMemberFactory.create(workspace=workspace)
    ProductFactory.create(workspace=workspace, track_stock=True, stock_quantity=1)
    endpoint = Endpoint.objects.create(
        agency=agency, url="https://receiver.example/in", events=["workspace.suspended"], secret=new_secret()
    )
    suspend_workspace(workspace=workspace, now=now, by=SYSTEM)
    grant_addon(workspace=workspace, addon=agency.addons.get(), now=now, by=SYSTEM)
    channel = connect_channel(
        workspace=workspace, platform="whatsapp", external_id="1", name="Number", handle="+1", now=now, by=SYSTEM
    )
    ChannelCredential.objects.create(channel=channel, token="a-channel-s-token", container_id="2")
    disconnect_channel(channel=channel, now=now, by=SYSTEM)
    make_deliveries(connection.connection)
    Attempt.objects.create(
        delivery=Delivery.objects.get(),
        number=1,
        started_at=now,
        duration_ms=12.5,
        response_status=500,
        response_body=b"<script>no</script>",
    )
    _, agency_key = issue_agency_key(agency=agency, name="Key", can_copy=True, by=SYSTEM)
    _, workspace_key = issue_workspace_key(workspace=workspace, name="Key", by=SYSTEM)
    switch_connect(agency=agency, enabled=True, reason="Asked for it", by=SYSTEM)
    set_return_urls(agency=agency, return_urls=["https://app.example.com/"], by=SYSTEM)
    restore_workspace(workspace=workspace, now=now, by=SYSTEM)
    address = "https://app.example.com/"
    session = create_session(
        agency=agency, workspace=workspace, platform="whatsapp", return_url=address, now=now, by=SYSTEM
    )
    begin_tries(kind="export", keys=[1])
    for made in (BulkOperation, Export):
        made.objects.create(agency=agency, created_by=UserFactory.create(), kind="sub-accounts")
    store_notice(body=b'{"text": "a customer\'s message"}')
    PushSubscription.objects.create(
        user=UserFactory.create(), key=vapid_key_of("app.example.com"), endpoint="https://push.example.com/secret-path"
    )
    return [
        agency_key,
        workspace_key,
        endpoint.secret or "",
        session.link or "",
        "rk_live_secret",
        "whsec_secret",
        "https://pay.example/x",
        booked.token or "",
        feed.token or "",
        "a customer's message",
        "a-channel-s-token",
        "secret-path",
        *(str(invoice.token) for invoice in Invoice.objects.exclude(token=None)),
    ]


@pytest.fixture(scope="module")
def filled(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[tuple[int, list[str]]]:
    """A sub-account with every kind of record, made once for all tests of the module, and all secrets."""
    with django_db_blocker.unblock():
        workspace = a_workspace(an_agency())
        secrets = fill(workspace)
    yield workspace.pk, secrets
    with django_db_blocker.unblock():
        empty_database()


@pytest.fixture
def workspace(filled: tuple[int, list[str]], db: None) -> Workspace:
    return Workspace.objects.get(pk=filled[0])


@pytest.fixture
def secrets_of(filled: tuple[int, list[str]]) -> list[str]:
    return filled[1]


@contextmanager
def queries() -> Iterator[list[str]]:
    found: list[str] = []
    with CaptureQueriesContext(connection) as captured:
        yield found
    found += [query["sql"] for query in captured.captured_queries]


def path_of(model: type, *rest: object) -> str:
    meta = model._meta  # type: ignore[attr-defined]  # every model has one
    return "/".join(["/admin", meta.app_label, meta.model_name, *map(str, rest), ""])


def test_a_record_is_listed_and_shown_without_any_secret(support: Client, secrets_of: list[str]) -> None:
    """And its list counts no further than it goes."""
    for model in RECORDS:
        row = model._default_manager.latest("pk")
        for path in (path_of(model), path_of(model, row.pk, "change")):
            with queries() as statements:
                page = support.get(path)
            content = page.content.decode()
            assert (path, page.status_code) == (path, 200)
            assert str(row.pk) in content, path
            assert (path, [secret for secret in secrets_of if secret in content]) == (path, [])
            if path == path_of(model):
                assert_bounded_counts(path, statements)


def assert_bounded_counts(path: str, statements: list[str]) -> None:
    counts = [statement for statement in statements if COUNT.search(statement)]
    assert counts, path
    assert (path, [one for one in counts if f"LIMIT {MOST_ROWS}" not in one]) == (path, [])


# What decides whether a record is changed.
CHANGING = (
    *("has_add_permission", "has_change_permission", "has_delete_permission", "has_module_permission"),
    *("add_view", "change_view", "delete_view", "changeform_view", "get_inline_instances", "admin_site"),
)


def one_of_each(names: tuple[str, ...]) -> list[type[Model]]:
    """Give the model of one page of all that have the same attributes of these names."""
    alike = {tuple(getattr_static(page, name) for name in names): page.model for page in PAGES_OF_RECORDS}
    return [*alike.values()]


def test_a_record_is_neither_added_nor_changed_nor_deleted(support: Client, secrets_of: list[str]) -> None:
    """Each page leaves what it allows to one base, so one page of all that answer alike is asked."""
    for name in ("has_add_permission", "has_change_permission", "has_delete_permission"):
        assert {getattr(type(page), name) for page in PAGES_OF_RECORDS} == {getattr(ReadOnlyAdmin, name)}
    for model in one_of_each(CHANGING):
        pk = model._default_manager.latest("pk").pk
        tries = [("add",), (pk, "change"), (pk, "delete")]
        answers = [support.post(path_of(model, *rest), {"name": "X", "post": "yes"}).status_code for rest in tries]
        assert (model, answers) == (model, [403, 403, 403])


def test_a_search_that_names_nothing_finds_nothing(support: Client, secrets_of: list[str]) -> None:
    """Each column of ids is asked for one that nobody has; each way of searching also for a word."""
    asked = [*product(RECORDS, [str(uuid.uuid4())]), *product(one_of_each(("search", "get_search_results")), ["zzz"])]
    for model, term in asked:
        page = support.get(path_of(model), {"q": term})
        assert (model, page.status_code) == (model, 200)
        assert (model, page.context["cl"].result_count) == (model, 0)


def test_things_are_found_by_their_uuid(support: Client, secrets_of: list[str], workspace: Workspace) -> None:
    delivery = Delivery.objects.get()
    wanted = [
        (Event, Event.objects.earliest("pk").uuid),
        (Delivery, delivery.uuid),
        (AgencyKey, AgencyKey.objects.get().uuid),
        (Workspace, workspace.uuid),
    ]
    for model, term in wanted:
        assert support.get(path_of(model), {"q": str(term)}).context["cl"].result_count == 1
    activity = support.get(path_of(ActivityEntry), {"q": str(workspace.uuid)}).context["cl"]
    assert activity.result_count == ActivityEntry.objects.filter(workspace_uuid=workspace.uuid).count() > 1


def test_sub_accounts_are_found_by_a_part_of_their_name(support: Client, workspace: Workspace) -> None:
    assert support.get(path_of(Workspace), {"q": "SIDE cyc"}).context["cl"].result_count == 1
    assert support.get(path_of(Workspace), {"q": "%"}).context["cl"].result_count == 0


def found(support: Client, model: type, **query: str) -> int:
    page = support.get(path_of(model), query)
    assert page.status_code == 200
    number: int = page.context["cl"].result_count
    return number


def test_deliveries_and_events_are_filtered_by_agency_status_and_day(
    support: Client, secrets_of: list[str], workspace: Workspace
) -> None:
    own, nobody = {"agency__id__exact": str(workspace.agency_id)}, {"agency__id__exact": "987654321"}
    today, events = timezone.now().date(), Event.objects.count()
    content = support.get(path_of(Delivery)).content.decode()
    assert all(f"By {title}" in content for title in ("agency", "status", "day (UTC)"))
    assert "pending" in content
    assert found(support, Delivery, **own, status="pending") == found(support, Delivery, status="pending") == 1
    assert found(support, Delivery, **own, status="error") == found(support, Delivery, status="success") == 0
    assert found(support, Delivery, **own, day=str(today)) == 1
    assert found(support, Event, **own, day=str(today)) == events
    waiting = Event.objects.filter(fanned_out_at=None).count()
    assert found(support, Event, **own, status="waiting") == found(support, Event, status="waiting") == waiting
    assert found(support, Event, status="fanned out") == events - waiting > 0
    for model in (Delivery, Event):
        assert found(support, model, **nobody) == found(support, model, agency__id__exact="x") == 0
        assert found(support, model, day=str(today - timedelta(days=1))) == found(support, model, day="x") == 0
    Event.objects.update(fanned_out_at=None)
    assert found(support, Event, status="waiting") == events
    assert "waiting" in support.get(path_of(Event)).content.decode()


def test_each_time_says_that_it_is_in_utc(support: Client, workspace: Workspace) -> None:
    support.cookies[settings.TIME_ZONE_COOKIE_NAME] = "Europe/Berlin"
    agency = workspace.agency
    made = f"{agency.created_at:%-d %b %Y, %H:%M} UTC"
    for path in (path_of(Agency), path_of(Agency, agency.pk, "change")):
        assert made in support.get(path).content.decode()


def test_what_a_receiver_answered_is_shown_as_text(support: Client, secrets_of: list[str]) -> None:
    content = support.get(path_of(Delivery, Delivery.objects.get().pk, "change")).content
    assert b"HTTP 500" in content
    assert b"&lt;script&gt;no&lt;/script&gt;" in content
    assert b"<script>no" not in content


def test_an_agencys_page_leads_to_what_belongs_to_it(
    support: Client, secrets_of: list[str], workspace: Workspace
) -> None:
    content = support.get(f"/admin/agency/agency/{workspace.agency_id}/change/").content.decode()
    links = re.findall(r'href="(/admin/[^"]+agency__id__exact=\d+)"', content)
    assert len(links) == 16
    assert {support.get(link).status_code for link in links} == {200}


OWN = ("agency", "subaccounts", "channelconnect")
WITH_A_STATUS = [
    page for page in admin.site._registry.values() if page.opts.app_label in OWN and "status" in page.list_display
]


@pytest.mark.parametrize("listed", WITH_A_STATUS, ids=lambda listed: listed.model.__name__)
def test_a_list_says_the_status_where_it_is_seen_first(listed: Any) -> None:
    assert listed.list_display.index("status") == 1


def test_keys_say_whether_they_are_live(workspace: Workspace, support: Client) -> None:
    key, _ = issue_agency_key(agency=workspace.agency, name="Key", can_copy=True, by=SYSTEM)
    alone = {"q": str(key.uuid)}
    assert "Live" in support.get(path_of(AgencyKey), alone).content.decode()
    revoke_agency_key(key=key, now=timezone.now(), by=SYSTEM)
    assert "Revoked" in support.get(path_of(AgencyKey), alone).content.decode()
