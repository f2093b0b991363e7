"""Tasks are begun when their rows are due, one statement finds that none is, and beat asks for each all the same."""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import (
    BulkOperation,
    Domain,
    Export,
    Mail,
    Notification,
    NotificationEvent,
    PasswordResetRequest,
    PushSubscription,
    QueuedPush,
    VapidKey,
)
from broadcasts.models import AudienceForecast
from broadcasts.services.link_clicks import record_clicks
from broadcasts.services.tracked_links import LinkToken
from channelconnect.models import BusinessAppSync, ChannelCredential, ConnectSession, TemplateSync, Unsubscription
from config.celery import app
from config.celery.tasks import MOST_WAITING, QueueLengths, due_among, due_work, start_due_tasks
from config.queues import FALLBACK_INTERVAL_SECONDS, TASKS
from tests.factories import ContactFactory, PendingSignUpFactory, ServiceFactory, StaffFactory, UserFactory
from tests.factories.appointments import a_bookable_service, tomorrow
from tests.factories.finance import InvoiceFactory, a_payment, a_payout, an_issued_invoice
from tests.packs.client import an_automation
from tests.processes.broker import forget_calls
from tests.tenants import Tenant
from tests.workspaces.automations.engine.test_appointments import a_service, booked
from workspaces.appointments.models import ExternalCalendar, Hold
from workspaces.appointments.services.booking import hold_time
from workspaces.automations.models import AppointmentReminder, InternalCall
from workspaces.automations.services import remove_automation
from workspaces.classes.models import ClassSeries, ClassSession
from workspaces.contacts.models import Contact, ContactImport, Segment
from workspaces.conversations.models import Conversation, MediaFetch, Message
from workspaces.finance.models import Checkout, Payout, ProviderAccount, ProviderEvent, Refund
from workspaces.finance.services.invoices import issue_invoice
from workspaces.finance.services.refunds import refund_payment
from workspaces.media.models import UnusedFile

pytestmark = pytest.mark.django_db
# What beat asks for more often, or as often because its look goes through many tables.
LOOKED_FOR_BY_THEMSELVES = {
    "config.record_worker",
    "config.start_due_tasks",
    "conversations.apply_parked_changes",
    "contacts.merge_counts",
    "agency.check_states",
}
# Of an idle task; those that find what lasts go through a table each.
MOST_STATEMENTS_OF_A_MINUTE = 40
MOST_OF_CHECKS = 105  # each check looks, begins a try of itself and ends it
HOUR = timedelta(hours=1)


@pytest.fixture(autouse=True)
def every_task_is_imported() -> None:
    app.loader.import_default_modules()


@pytest.fixture
def waiting() -> Iterator[QueueLengths]:
    """The calls that wait in the empty queues of this test run's broker."""
    forget_calls()
    with app.connection_for_write() as broker:
        yield QueueLengths(broker)
    forget_calls()


def time(is_due: bool) -> datetime:
    return now() - HOUR if is_due else now() + HOUR


def a_mail(a: Tenant, is_due: bool) -> None:
    fields: dict[str, Any] = {"user": UserFactory.create(), "recipient": "ada@example.com"}
    Mail.objects.create(kind=Mail.Kind.PASSWORD_RESET, next_attempt_at=time(is_due), **fields)


def a_password_reset(a: Tenant, is_due: bool) -> None:
    if is_due:
        PasswordResetRequest.objects.create(email="ada@example.com")


def a_sign_up(a: Tenant, is_due: bool) -> None:
    PendingSignUpFactory.create(agency=a.agency, is_looked_up=not is_due)


def a_bulk_change(a: Tenant, is_due: bool) -> None:
    BulkOperation.objects.create(kind="sub_accounts.suspend", **state(a, is_due))


def an_export(a: Tenant, is_due: bool) -> None:
    Export.objects.create(kind="activity", format="csv", **state(a, is_due))


def state(a: Tenant, is_due: bool) -> dict[str, Any]:
    ended = {} if is_due else {"state": "completed", "ended_at": now()}
    return {"agency": a.agency, "created_by": UserFactory.create(), **ended}


def a_domain(a: Tenant, is_due: bool) -> None:
    Domain.objects.create(agency=a.agency, host="chat.example.com", token="1", next_check_at=time(is_due))


def an_event(a: Tenant, is_due: bool) -> NotificationEvent:
    fields: dict[str, Any] = {"kind": "export.ended", "key": "1", "only_user": UserFactory.create()}
    told_at = None if is_due else now()
    return NotificationEvent.objects.create(agency=a.agency, created_at=now(), told_at=told_at, **fields)


def a_push(a: Tenant, is_due: bool) -> None:
    keys = VapidKey.objects.create(host="app.example.com", public_key="", private_key="no secret")
    device = PushSubscription.objects.create(user=a.workspace.owner, key=keys, endpoint="https://push.example.com/1")
    QueuedPush.objects.create(
        subscription=device, topic="test", kind="push.test", created_at=now(), due_at=time(is_due)
    )


def an_e_mail_at_once(a: Tenant, is_due: bool) -> None:
    a_notification(a, "at_once", is_due)


def an_e_mail_of_the_day(a: Tenant, is_due: bool) -> None:
    a_notification(a, "digest", is_due)


def a_notification(a: Tenant, way: str, is_due: bool) -> None:
    event = an_event(a, is_due=False)
    assert event.only_user
    fields: dict[str, Any] = {"area": a.agency.uuid, "kind": event.kind, "created_at": now()}
    Notification.objects.create(user=event.only_user, event=event, way=way, mail_due_at=time(is_due), **fields)


def a_message(a: Tenant, **fields: Any) -> Message:
    contact = Contact.objects.create(workspace=a.workspace, name="Ada", search_key="ada")
    conversation = Conversation.objects.create(workspace=a.workspace, channel=a.channel, contact=contact, **fields)
    return Message.objects.create(
        workspace_id=a.workspace.pk,
        channel_id=a.channel.pk,
        conversation=conversation,
        direction="in",
        status="received",
        type="image",
        provider_time=now(),
    )


def a_fetch(a: Tenant, is_due: bool) -> None:
    MediaFetch.objects.create(message=a_message(a), channel_id=a.channel.pk, reference="1", due_at=time(is_due))


def a_snoozed_conversation(a: Tenant, is_due: bool) -> None:
    a_message(a, snoozed_until=time(is_due))


def a_session(a: Tenant, is_due: bool) -> None:
    where: dict[str, Any] = {"agency": a.agency, "workspace": a.workspace, "platform": "whatsapp"}
    times = {"created_at": time(is_due) - HOUR, "expires_at": time(is_due)}
    ConnectSession.objects.create(return_url="https://example.com", link_digest=b"1" * 32, **where, **times)


def an_unsubscription(a: Tenant, is_due: bool) -> None:
    what: dict[str, Any] = {"reason": "moved", "platform": "facebook", "container_id": "1", "status": "waiting"}
    Unsubscription.objects.create(workspace=a.workspace, token="no secret", due_at=time(is_due), **what)


def an_access_check(a: Tenant, is_due: bool) -> None:
    fields: dict[str, Any] = {"token": "", "container_id": "1"}
    ChannelCredential.objects.create(channel=a.channel, access_check_due_at=time(is_due), **fields)


def a_request_for_app_data(a: Tenant, is_due: bool) -> None:
    BusinessAppSync.objects.create(channel=a.channel, begun_at=now(), due_at=time(is_due))


def a_template_list(a: Tenant, is_due: bool) -> None:
    TemplateSync.objects.create(container_id="1", due_at=time(is_due))


def a_class(a: Tenant, is_due: bool) -> None:
    service, staff = ServiceFactory.create(workspace=a.workspace), StaffFactory.create(workspace=a.workspace)
    times = {"starts_at": time(is_due) - HOUR, "ends_at": time(is_due)}
    ClassSession.objects.create(workspace=a.workspace, service=service, staff=staff, capacity=5, **times)


def an_invoice(a: Tenant, is_due: bool) -> None:
    draft = InvoiceFactory.create(workspace=a.workspace)
    issue_invoice(invoice=draft, now=now() - timedelta(days=30 * is_due), by=SYSTEM)


def a_hold(a: Tenant, is_due: bool) -> None:
    expires_at = time(is_due)
    hold_time(
        workspace=a.workspace,
        service=a_bookable_service(a.workspace),
        contact=ContactFactory.create(workspace=a.workspace),
        starts_at=tomorrow(),
        expires_at=expires_at,
        now=expires_at - HOUR,
    )


def a_series(a: Tenant, is_due: bool) -> None:
    service = ServiceFactory.create(workspace=a.workspace)
    rule: dict[str, Any] = {"unit": "days", "first_date": now().date(), "start_time": "18:00", "timezone": "UTC"}
    ClassSeries.objects.create(
        workspace=a.workspace, service=service, capacity=5, duration_minutes=60, due_at=time(is_due), **rule
    )


def a_calendar(a: Tenant, is_due: bool) -> None:
    staff = StaffFactory.create(workspace=a.workspace)
    ExternalCalendar.objects.create(staff=staff, name="Private", address="x", host="x", due_at=time(is_due))


def a_deposit(a: Tenant, is_due: bool) -> None:
    a_hold(a, is_due=False)
    Hold.objects.update(check_at=time(is_due))


def an_account(a: Tenant) -> ProviderAccount:
    return ProviderAccount.objects.create(workspace=a.workspace, endpoint_id="we_1")


def a_provider_event(a: Tenant, is_due: bool) -> None:
    account = an_account(a)
    ProviderEvent.objects.create(account=account, event_id="evt_1", kind="x", object_id="x", due_at=time(is_due))


def a_refund(a: Tenant, is_due: bool) -> None:
    refund_payment(payment=a_payment(an_issued_invoice(a.workspace)), amount=1, now=now(), by=SYSTEM)
    Refund.objects.update(call_at=time(is_due))


def a_checkout(a: Tenant, is_due: bool) -> None:
    invoice, account, later = an_issued_invoice(a.workspace), an_account(a), now() + HOUR
    values = {"amount": 1, "currency": "USD", "expires_at": later, "check_at": time(is_due)}
    Checkout.objects.create(invoice=invoice, account=account, **values)


def a_look(a: Tenant, is_due: bool) -> None:
    an_account(a)
    ProviderAccount.objects.update(look_at=time(is_due))


def a_payout_to_list(a: Tenant, is_due: bool) -> None:
    a_payout(a.workspace)
    Payout.objects.update(list_at=time(is_due))


def an_import(a: Tenant, is_due: bool) -> None:
    fields: dict[str, Any] = {"filename": "a.csv", "columns": ["a"], "rows_total": 1, "by_label": "Ada"}
    ContactImport.objects.create(workspace=a.workspace, status="running" if is_due else "completed", **fields)


def a_segment_to_recount(a: Tenant, is_due: bool) -> None:
    asked_at = now() if is_due else None
    Segment.objects.create(workspace=a.workspace, name="Some", name_key="some", filter={}, recount_asked_at=asked_at)


def a_forecast(a: Tenant, is_due: bool) -> None:
    make_forecast(a, completed_at=None if is_due else now())


def an_old_forecast(a: Tenant, is_due: bool) -> None:
    make_forecast(a, completed_at=now(), created_at=now() - (HOUR if is_due else timedelta()))


def make_forecast(a: Tenant, **fields: Any) -> None:
    counted: dict[str, Any] = {"counted_up_to": 0, "last_contact": 1, "walked": 0, "total": 1, "found": {}}
    AudienceForecast.objects.create(workspace=a.workspace, draft={}, starts_at=now(), **counted, **fields)


def a_click(a: Tenant, is_due: bool) -> None:
    if is_due:
        record_clicks([LinkToken(1, 1, 0)])


def an_unused_file(a: Tenant, is_due: bool) -> None:
    UnusedFile.objects.create(storage_name="1", due_at=time(is_due))


def a_removed_automation(a: Tenant, is_due: bool) -> None:
    automation = an_automation(a.workspace)
    if is_due:
        remove_automation(automation=automation, by=SYSTEM)


def an_internal_call(a: Tenant, is_due: bool) -> None:
    keys = {"run_id": 1, "run_uuid": uuid4(), "seq": 1, "workspace_id": a.workspace.pk, "contact_id": 1}
    made = InternalCall.objects.create(kind="find_times", request={}, **keys)
    InternalCall.objects.filter(pk=made.pk).update(created_at=time(is_due))


def a_reminder(a: Tenant, is_due: bool) -> None:
    ContactFactory.create(workspace=a.workspace)
    appointment = booked(a, a_service(a))
    AppointmentReminder.objects.create(appointment=appointment, hours=2, due_at=time(is_due))


WORK: tuple[tuple[str, Callable[[Tenant, bool], object]], ...] = (
    ("agency.send_mail", a_mail),
    ("agency.send_mail", a_password_reset),
    ("agency.send_mail", a_sign_up),
    ("agency.run_jobs", a_bulk_change),
    ("agency.run_jobs", an_export),
    ("agency.check_domains", a_domain),
    ("agency.tell_people", an_event),
    ("agency.tell_people", an_e_mail_at_once),
    ("agency.tell_people", an_e_mail_of_the_day),
    ("agency.send_pushes", a_push),
    ("channelconnect.fetch_media", a_fetch),
    ("channelconnect.expire_sessions", a_session),
    ("channelconnect.unsubscribe", an_unsubscription),
    ("channelconnect.check_access", an_access_check),
    ("channelconnect.request_app_data", a_request_for_app_data),
    ("channelconnect.sync_templates", a_template_list),
    ("appointments.end_holds", a_hold),
    ("appointments.settle_deposits", a_deposit),
    ("classes.complete_ended", a_class),
    ("finance.report_overdue", an_invoice),
    ("classes.make_series", a_series),
    ("appointments.read_calendars", a_calendar),
    ("finance.call_provider", a_provider_event),
    ("finance.call_provider", a_refund),
    ("finance.call_provider", a_checkout),
    ("finance.call_provider", a_look),
    ("finance.call_provider", a_payout_to_list),
    ("contacts.import_files", an_import),
    ("contacts.recount_segments", a_segment_to_recount),
    ("conversations.wake_snoozed", a_snoozed_conversation),
    ("automations.delete_removed", a_removed_automation),
    ("automations.make_calls", an_internal_call),
    ("automations.remind", a_reminder),
    ("broadcasts.count_audiences", a_forecast),
    ("broadcasts.count_audiences", an_old_forecast),
    ("broadcasts.count_clicks", a_click),
    ("media.remove_unused_files", an_unused_file),
)


def due_beside(a: Tenant, make: Callable[[Tenant, bool], object], *, is_due: bool) -> set[str]:
    """The tasks that are due when there is this row, which is undone then."""
    with transaction.atomic():
        make(a, is_due)
        found = due_among(due_work)
        transaction.set_rollback(True)
    return found


def test_a_task_is_due_when_its_rows_are(a: Tenant) -> None:
    assert a.channel.pk
    Mail.objects.all().delete()  # to the owner of the workspace
    for is_due in (False, True):
        found = {make.__name__: due_beside(a, make, is_due=is_due) for _, make in WORK}
        assert found == {make.__name__: {task} if is_due else set() for task, make in WORK}


def test_each_kind_of_due_work_is_in_the_table() -> None:
    assert sum(len(kind.rows) for kind in due_work) == len(WORK)
    assert {kind.name for kind in due_work} == {task for task, _ in WORK}


def test_whatever_beat_asks_for_each_minute_is_begun_as_soon_as_it_is_due() -> None:
    often = {task.name for task in TASKS if task.every is not None and task.every <= FALLBACK_INTERVAL_SECONDS}
    assert {kind.name for kind in due_work} == often - LOOKED_FOR_BY_THEMSELVES


def test_one_statement_finds_that_nothing_is_due(waiting: QueueLengths) -> None:
    with CaptureQueriesContext(connection) as captured:
        start_due_tasks()
    assert len(captured) == 1
    assert all(waiting.number(task.queue.name) == 0 for task in TASKS)


def test_what_is_due_is_asked_for_with_the_next_look_however_often_a_call_is_lost(
    a: Tenant, waiting: QueueLengths
) -> None:
    a_mail(a, is_due=True)
    a_domain(a, is_due=True)
    for _ in range(2):
        forget_calls()
        start_due_tasks()
        counted = {task.queue.name: waiting.number(task.queue.name) for task in TASKS}
        assert {queue: number for queue, number in counted.items() if number} == {"mail": 1, "domains": 1}


def test_a_queue_that_nobody_empties_stays_short(a: Tenant, waiting: QueueLengths) -> None:
    a_mail(a, is_due=True)
    for _ in range(MOST_WAITING + 3):
        start_due_tasks()
    assert waiting.number("mail") == MOST_WAITING


def test_an_idle_task_costs_few_statements() -> None:
    """Each is asked for by beat; what looks through many tables is asked for seldom."""
    for task in TASKS:
        if task.every is None:
            continue
        app.tasks[task.name]()  # what a first run makes, such as the days of deliveries, is there
        with CaptureQueriesContext(connection) as captured:
            app.tasks[task.name]()
        most = MOST_OF_CHECKS if task.name == "agency.check_states" else MOST_STATEMENTS_OF_A_MINUTE
        assert len(captured) * 60 / task.every <= most, task.name
