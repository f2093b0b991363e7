"""Watches A.I. accounts: after several calls in a row without an answer nobody calls for a while."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from django.db.models import Case, DateTimeField, F, Q, Value, When
from django.utils.translation import gettext_lazy

from agency.notification_kinds import NotificationKind
from agency.services.notifications.recording import record_notification
from agency.tenants import Tenant
from workspaces.automations.models import AiAccount

KEY_REFUSED: Final = "ai_account.key_refused"
# After so many calls in a row without an answer the account rests, each time longer.
MOST_FAILURES: Final = 5
RESTS: Final = tuple(timedelta(seconds=seconds) for seconds in (30, 60, 120, 300))
# A refused key is tried again after this time, because the account may have been unlocked at the provider.
REFUSED_REST: Final = timedelta(minutes=10)

KINDS: Final = (
    NotificationKind(
        name=KEY_REFUSED,
        label=gettext_lazy("An A.I. provider refuses a key"),
        text=gettext_lazy("The provider refuses the key of the A.I. account %(name)s. Automations go on without it."),
        url_name="console:ai-account",
        names_object=True,
    ),
)


def record_answer(account_id: int) -> None:
    """Record that an account's provider has answered."""
    troubled = Q(failures__gt=0) | Q(refused_at__isnull=False) | Q(stopped_until__isnull=False)
    AiAccount.objects.filter(troubled, pk=account_id).update(failures=0, stopped_until=None, refused_at=None)


def record_outage(account_id: int, *, now: datetime) -> None:
    """Record that an account's provider has not answered. After some of these the account rests."""
    times: Sequence[When] = [
        When(failures=MOST_FAILURES - 1 + number, then=Value(now + rest)) for number, rest in enumerate(RESTS)
    ]
    longest = When(failures__gte=MOST_FAILURES, then=Value(now + RESTS[-1]))
    rest = Case(*times, longest, default=F("stopped_until"), output_field=DateTimeField())
    AiAccount.objects.filter(pk=account_id).update(failures=F("failures") + 1, stopped_until=rest)


def record_refused_key(account_id: int, *, key_since: datetime, now: datetime) -> None:
    """Record that the provider refuses the key that the account has since `key_since`, and notify the agency once."""
    rows = AiAccount.objects.filter(pk=account_id, key_changed_at=key_since)
    if rows.filter(refused_at=None).update(refused_at=now, stopped_until=now + REFUSED_REST):
        account = rows.get()
        record_notification(
            tenant=Tenant(account.agency_id),
            kind=KEY_REFUSED,
            key=f"{account.uuid}:{now.isoformat()}",
            object_id=str(account.uuid),
            data={"name": account.name},
            now=now,
        )
    else:
        rows.update(stopped_until=now + REFUSED_REST)
