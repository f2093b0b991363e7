"""How long events, activity, e-mails and sign-ins are kept."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import connection, transaction

from agency.services.sent_forms import SENT_FORMS_KEPT
from config.hooks import Registry
from config.retention.rules import BATCH, OldRows, RetentionRule

# A day longer than the deliveries that read their bodies.
EVENTS_KEPT = timedelta(days=32)
# After the day until which they could have been answered, and not before the e-mails that brought their links.
INVITATIONS_KEPT = timedelta(days=settings.MAIL_KEPT_DAYS)
HAS_NO_MAIL = "NOT EXISTS (SELECT FROM agency_mail WHERE invitation_id = oldest.id)"
# The word by which the activity's trigger lets old rows go (migration 0006); it holds for this transaction only.
ALLOW_FORGETTING = "SELECT set_config('agency.activity', 'retention', true)"


@dataclass(frozen=True, slots=True)
class EventReader:
    """How a higher app says since when it needs events; None when it needs none."""

    name: str
    needed_since: Callable[[], datetime | None]


event_readers = Registry[EventReader]("readers of events")


def _old_events() -> OldRows:
    """Give those that were fanned out before anything that may still be read was made."""
    needed = [since for reader in event_readers if (since := reader.needed_since())]
    only = f"fanned_out_at < '{min(needed).isoformat()}'" if needed else "true"
    return OldRows("agency_event", "fanned_out_at", EVENTS_KEPT, only=only)


def forget_events() -> int:
    return _old_events().forget()


def events_lag() -> timedelta:
    return _old_events().lag()


ACTIVITY = OldRows("agency_activityentry", "at", timedelta(days=settings.ACTIVITY_KEPT_DAYS))


@transaction.atomic
def forget_activity(batch: int = BATCH) -> int:
    """Delete a batch of old entries, which the table's trigger allows for this purpose alone."""
    with connection.cursor() as cursor:
        cursor.execute(ALLOW_FORGETTING)
    return ACTIVITY.forget(batch)


INVITATIONS = OldRows("agency_invitation", "expires_at", INVITATIONS_KEPT, order="expires_at", only=HAS_NO_MAIL)
RULES = (
    RetentionRule("events", EVENTS_KEPT, forget_events, events_lag),
    RetentionRule("activity", ACTIVITY.kept, forget_activity, ACTIVITY.lag),
    OldRows("agency_mail", "created_at", timedelta(days=settings.MAIL_KEPT_DAYS)).rule("mail"),
    INVITATIONS.rule("invitations"),
    OldRows("agency_sentform", "sent_at", SENT_FORMS_KEPT).rule("sent_forms"),
    OldRows("django_session", "expire_date", timedelta(0), key="session_key", order="expire_date").rule("web_sessions"),
)
