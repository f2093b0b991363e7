"""How long the agency app keeps what it writes."""

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import DatabaseError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from agency import tenants
from agency.actors import SYSTEM
from agency.models import ActivityEntry, Event, Invitation, Mail, User, UserSession
from agency.services import invite_member, record_activity, write_event
from agency.services.retention import ACTIVITY, EventReader, event_readers, forget_activity
from agency.tasks import forget_records
from config.celery import app
from config.queues import TASKS
from config.retention import ExpiredRows, RetentionRule, forget, retention_rules
from config.tries.counting import begin_tries
from config.tries.models import BegunWork
from tests.tenants import Tenant

pytestmark = pytest.mark.django_db


def an_entry(tenant: Tenant, days_ago: float) -> ActivityEntry:
    record_activity(by=SYSTEM, action="plan.changed", agency_id=tenant.agency.pk, target=("plan", 1, "Plan"))
    entry = ActivityEntry.objects.latest("id")
    entry.pk, entry.at = None, now() - timedelta(days=days_ago)
    entry.save()
    return entry


def an_event(tenant: Tenant, fanned_out: float | None) -> Event:
    """An event that was fanned out so many days ago, or not yet."""
    moment = now() - timedelta(days=fanned_out or 400)
    data = {
        "workspace": {"uuid": "7d4f3a0e-38a5-4a5b-9d0a-2f3c58a0b1c2", "name": "A", "status": "active", "plan": None}
    }
    event = write_event(tenant=tenants.Tenant(tenant.agency.pk), name="workspace.created", data=data, now=moment)
    event.fanned_out_at = moment if fanned_out else None
    event.save()
    return event


def test_activity_is_kept_for_thirteen_months(a: Tenant) -> None:
    old, kept = an_entry(a, 397), an_entry(a, 395)
    assert timedelta(hours=23) < ACTIVITY.lag() < timedelta(hours=25)
    forget_records()
    entries = ActivityEntry.objects.all()
    assert old not in entries
    assert kept in entries
    assert ACTIVITY.lag() == timedelta(0)


@pytest.mark.parametrize(
    ("purpose", "statement"),
    [
        ("", "DELETE FROM agency_activityentry WHERE at < now() - interval '1 year'"),
        ("", "UPDATE agency_activityentry SET actor_label = ''"),
        ("retention", "DELETE FROM agency_activityentry"),
        ("retention", "UPDATE agency_activityentry SET actor_label = ''"),
        ("erasure", "DELETE FROM agency_activityentry"),
        ("erasure", "UPDATE agency_activityentry SET action = 'plan.created'"),
        ("erasure", "UPDATE agency_activityentry SET at = now()"),
    ],
)
def test_nobody_else_deletes_or_rewrites_an_entry(a: Tenant, purpose: str, statement: str) -> None:
    an_entry(a, 5)
    an_entry(a, 500)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT set_config('agency.activity', %s, true)", [purpose])
        with pytest.raises(DatabaseError, match="only ever added"), transaction.atomic():
            cursor.execute(statement)


@pytest.mark.django_db(transaction=True)
def test_the_leave_to_delete_ends_with_its_transaction(a: Tenant) -> None:
    an_entry(a, 500)
    forget_activity()
    an_entry(a, 500)
    with pytest.raises(DatabaseError, match="only ever added"):
        ActivityEntry.objects.filter(at__lt=now() - timedelta(days=400)).delete()


def test_events_go_once_no_delivery_can_read_them(a: Tenant) -> None:
    an_event(a, 33)
    kept = {an_event(a, 31), an_event(a, None)}
    forget_records()
    assert set(Event.objects.all()) == kept


def test_events_stay_for_as_long_as_a_reader_needs_them(a: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    needed = EventReader("a slow one", lambda: now() - timedelta(days=50))
    monkeypatch.setattr(event_readers, "_items", {**event_readers._items, needed.name: needed})
    gone, kept = an_event(a, 51), an_event(a, 49)
    forget_records()
    assert set(Event.objects.filter(pk__in=[gone.pk, kept.pk])) == {kept}


def test_mail_goes_after_ninety_days_and_sign_ins_when_they_are_over(a: Tenant) -> None:
    user = User.objects.create_user("somebody@example.com")
    for age in (91, 89):
        Mail.objects.create(kind="password_reset", user=user, created_at=now() - timedelta(days=age))
    for key, hours in (("over", -1), ("live", 1)):
        UserSession.objects.create(session_key=key, session_data="", expire_date=now() + timedelta(hours=hours))
    forget_records()
    assert Mail.objects.count() == 1
    assert list(UserSession.objects.values_list("session_key", flat=True)) == ["live"]


def test_a_run_ends_after_its_time_and_says_that_something_is_left(a: Tenant) -> None:
    user = User.objects.create_user("somebody@example.com")
    for _ in range(7):
        Mail.objects.create(kind="password_reset", user=user, created_at=now() - timedelta(days=200))
    few = ExpiredRows("agency_mail", "created_at", timedelta(days=90))
    slow = RetentionRule("mail", few.kept, lambda: few.forget(batch=3), few.lag)
    assert forget([slow], seconds=0)
    assert Mail.objects.count() == 4
    assert not forget([slow])
    assert not Mail.objects.exists()


def test_a_rule_that_fails_stops_no_other_rule_and_is_not_hidden(a: Tenant) -> None:
    def fail() -> int:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT 1 / 0")
        return 0

    old, failing = an_entry(a, 397), RetentionRule("failing", timedelta(days=1), fail, timedelta)
    with pytest.raises(DatabaseError, match="division by zero"):
        forget([failing, RetentionRule("activity", ACTIVITY.kept, forget_activity, ACTIVITY.lag)])
    assert not ActivityEntry.objects.filter(pk=old.pk).exists()


def test_every_rule_says_how_far_behind_it_is(db: None) -> None:
    lags = {rule.name: rule.lag() for rule in retention_rules}
    assert set(lags) == {
        "events", "activity", "mail", "invitations", "sent_forms", "web_sessions", "idempotency_keys",
        "permanent_idempotency_keys", "deliveries", "hourly_stats", "hourly_counts", "connect_sessions",
        "unsubscriptions", "provider_notices", "contact_imports", "parked_changes", "bulk_operations", "exports",
        "begun_work", "pending_sign_ups", "media_uploads", "messages",
        "notes", "notifications", "automation_runs", "automation_events", "automation_counts", "automation_queues",
        "comments", "automation_pauses", "outside_calls", "ai_usage", "agency_ai_usage",
        "done_tasks", "visitor_bookings", "payment_events", "queued_pushes", "push_subscriptions",
    }  # fmt: skip
    assert set(lags.values()) == {timedelta(0)}


def test_an_invitation_is_kept_as_long_as_the_mail_that_brought_it(a: Tenant) -> None:
    for days, has_mail in ((91, False), (91, True), (89, False)):
        sent = now() - timedelta(days=days + 7)
        made = invite_member(
            agency=a.agency, email=f"p{days}{has_mail}@example.com", name="P", role="admin", now=sent, by=SYSTEM
        )
        if not has_mail:
            made.mails.all().delete()
    forget_records()
    kept = Invitation.objects.order_by("id").values_list("email", flat=True)
    assert list(kept) == ["p91true@example.com", "p89false@example.com"]
    Mail.objects.update(created_at=now() - timedelta(days=91))
    forget_records()
    forget_records()
    assert Invitation.objects.get().email == "p89false@example.com"


def deleting(work: Callable[[], object]) -> set[str]:
    """Name the tables from which this deletes, or would delete, rows."""
    with CaptureQueriesContext(connection) as asked:
        work()
    return {table for query in asked for table in re.findall(r'DELETE FROM "?(\w+)', query["sql"])}


def test_tasks_delete_by_every_rule(db: None) -> None:
    app.loader.import_default_modules()
    housekeeping = [app.tasks[one.name] for one in TASKS if ".forget_" in one.name]
    by_tasks = deleting(lambda: [task() for task in housekeeping])
    for rule in retention_rules:
        assert deleting(rule.forget) <= by_tasks, rule.name


def test_work_that_died_is_forgotten_a_month_after_its_last_try(db: None) -> None:
    begin_tries(kind="test", keys=["old", "newer"])
    BegunWork.objects.filter(key="old").update(begun_at=now() - timedelta(days=31))
    forget_records()
    assert BegunWork.objects.get().key == "newer"
