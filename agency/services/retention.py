"""How long events, activity, e-mails, jobs and sign-ins are kept."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import connection, transaction

from agency.services.exports import KEPT as EXPORTS_KEPT
from agency.services.hourly_counts import KEPT as HOURLY_COUNTS_KEPT
from agency.services.page_records import SENT_FORMS_KEPT
from config.hooks import Registry
from config.retention import BATCH, ExpiredRows, RetentionRule

# A day longer than the deliveries, which read their bodies.
EVENTS_KEPT = timedelta(days=32)
# Counted from the day until which they could have been answered; they never go before the e-mails with their links.
INVITATIONS_KEPT = timedelta(days=settings.MAIL_KEPT_DAYS)
HAS_NO_MAIL = "NOT EXISTS (SELECT FROM agency_mail WHERE invitation_id = oldest.id)"
EXPORT_BATCH = 10
# Each event takes along the notifications of all its people.
EVENT_BATCH = 100
# What makes the activity table's trigger let old rows go (migration 0002), for this transaction only.
ALLOW_FORGETTING = "SELECT set_config('agency.activity', 'retention', true)"


@dataclass(frozen=True, slots=True)
class EventReader:
    """How a higher app says since when it needs events; None if it needs none."""

    name: str
    needed_since: Callable[[], datetime | None]


event_readers = Registry[EventReader](
    "readers of events",
    called="the retention rule of events calls each before it deletes a batch or measures the lag",
    transaction="none",
    failure="ends the task, and no event is deleted; the gauge of lags has no value",
)


def _old_events() -> ExpiredRows:
    """Return the events that were fanned out before anything that may still be read was made."""
    needed = [since for reader in event_readers if (since := reader.needed_since())]
    only = f"fanned_out_at < '{min(needed).isoformat()}'" if needed else "true"
    return ExpiredRows("agency_event", "fanned_out_at", EVENTS_KEPT, only=only)


def forget_events() -> int:
    return _old_events().forget()


def events_lag() -> timedelta:
    return _old_events().lag()


ACTIVITY = ExpiredRows("agency_activityentry", "at", timedelta(days=settings.ACTIVITY_KEPT_DAYS))


@transaction.atomic
def forget_activity(batch: int = BATCH) -> int:
    """Delete a batch of old entries, which the table's trigger allows for this purpose only."""
    with connection.cursor() as cursor:
        cursor.execute(ALLOW_FORGETTING)
    return ACTIVITY.forget(batch)


INVITATIONS = ExpiredRows("agency_invitation", "expires_at", INVITATIONS_KEPT, order="expires_at", only=HAS_NO_MAIL)
SESSIONS = ExpiredRows("agency_usersession", "expire_date", timedelta(0), key="session_key", order="expire_date")
HAS_ENDED = "state NOT IN ('waiting', 'running')"
# Their files are large, so a few exports go at a time, each with all its parts.
EXPORTS = ExpiredRows(
    "agency_export",
    "coalesce(ended_at, created_at)",
    EXPORTS_KEPT,
    of=HAS_ENDED,
    belonging=(("agency_exportpart", "export_id"),),
)
BULK_OPERATIONS = ExpiredRows(
    "agency_bulkoperation",
    "coalesce(ended_at, created_at)",
    timedelta(days=30),
    of=HAS_ENDED,
    belonging=(("agency_bulkoperationitem", "operation_id"),),
)
NOTIFICATIONS_KEPT = timedelta(days=90)
# Open states stay, so that people are not notified of them again; other events go with all their notifications.
NOTIFICATIONS = ExpiredRows(
    "agency_notificationevent",
    "created_at",
    NOTIFICATIONS_KEPT,
    of="(NOT lasts OR ended_at IS NOT NULL)",
    only="told_at IS NOT NULL",
    belonging=(("agency_notification", "event_id"), ("agency_queuedpush", "event_id")),
)
# A push is given up after a day; what is older was left by a sender that did not run.
QUEUED_PUSHES = ExpiredRows("agency_queuedpush", "created_at", timedelta(days=2))
# Where the person has signed out, nothing is sent from that moment on.
PUSH_SUBSCRIPTIONS = ExpiredRows(
    "agency_pushsubscription",
    "last_used_at",
    timedelta(days=30),
    order="last_used_at",
    only="NOT EXISTS (SELECT FROM agency_usersession AS session WHERE session.session_key = oldest.session_key)",
    belonging=(("agency_queuedpush", "subscription_id"),),
)


def forget_exports() -> int:
    return EXPORTS.forget(EXPORT_BATCH)


def forget_notifications() -> int:
    return NOTIFICATIONS.forget(EVENT_BATCH)


def forget_bulk_operations() -> int:
    return BULK_OPERATIONS.forget(EXPORT_BATCH)


RULES = (
    RetentionRule("events", EVENTS_KEPT, forget_events, events_lag),
    RetentionRule("activity", ACTIVITY.kept, forget_activity, ACTIVITY.lag),
    RetentionRule("exports", EXPORTS.kept, forget_exports, EXPORTS.lag),
    RetentionRule("bulk_operations", BULK_OPERATIONS.kept, forget_bulk_operations, BULK_OPERATIONS.lag),
    ExpiredRows("agency_mail", "created_at", timedelta(days=settings.MAIL_KEPT_DAYS)).rule("mail"),
    INVITATIONS.rule("invitations"),
    ExpiredRows("agency_pendingsignup", "expires_at", timedelta(0), order="expires_at").rule("pending_sign_ups"),
    ExpiredRows("agency_hourlycount", "hour", HOURLY_COUNTS_KEPT, order="hour").rule("hourly_counts"),
    RetentionRule("notifications", NOTIFICATIONS_KEPT, forget_notifications, NOTIFICATIONS.lag),
    ExpiredRows("agency_sentform", "sent_at", SENT_FORMS_KEPT).rule("sent_forms"),
    SESSIONS.rule("web_sessions"),
    QUEUED_PUSHES.rule("queued_pushes"),
    PUSH_SUBSCRIPTIONS.rule("push_subscriptions"),
)
