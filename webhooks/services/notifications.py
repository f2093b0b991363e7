"""Endpoints that fail for longer than an hour: their agency's staff, or their workspace's people, are told."""

from datetime import datetime, timedelta
from typing import Any, Final

from django.db.models import Exists, OuterRef, QuerySet
from django.utils.text import Truncator
from django.utils.translation import gettext_lazy as _

from agency.notification_kinds import NotificationKind
from agency.services.notifications.recording import Occurrence
from agency.services.notifications.states import BATCH, begin_states, end_states, is_open, open_keys
from agency.tenants import Audience
from webhooks.models import Endpoint, HourlyStats

ENDPOINT_FAILS: Final = "endpoint.fails"
WORKSPACE_ENDPOINT_FAILS: Final = "workspace.endpoint_fails"
HOUR: Final = timedelta(hours=1)
LOOKED_BACK: Final = timedelta(hours=26)
LONGEST_SHOWN: Final = 100
TEXT: Final = _("The webhook to %(url)s has failed for more than an hour.")
LABEL: Final = _("Webhook fails")
KINDS: Final = (
    NotificationKind(name=ENDPOINT_FAILS, label=LABEL, text=TEXT, url_name="console:webhook", names_object=True),
    NotificationKind(
        name=WORKSPACE_ENDPOINT_FAILS,
        label=LABEL,
        text=TEXT,
        url_name="app:webhook",
        names_object=True,
        audience=Audience.WORKSPACE,
    ),
)


def check_endpoints(now: datetime) -> bool:
    """Tell of endpoints whose deliveries fail for more than an hour, and note which take some again."""
    of_agencies = _begin(ENDPOINT_FAILS, of_agencies=True, now=now)
    of_workspaces = _begin(WORKSPACE_ENDPOINT_FAILS, of_agencies=False, now=now)
    for kind in (ENDPOINT_FAILS, WORKSPACE_ENDPOINT_FAILS):
        for keys in open_keys(kind):
            still = _failing().filter(uuid__in=keys).values_list("uuid", flat=True)
            end_states(kind, set(keys) - {str(uuid) for uuid in still}, now=now)
    return of_agencies or of_workspaces


def _begin(kind: str, *, of_agencies: bool, now: datetime) -> bool:
    rows = _failing_for_an_hour(now).filter(workspace_id__isnull=of_agencies).exclude(is_open(kind, "uuid"))
    found = [_occurrence(one) for one in rows.order_by("pk")[:BATCH]]
    begin_states(kind, found, now=now)
    return len(found) == BATCH


def _failing() -> "QuerySet[Endpoint]":
    return Endpoint.objects.filter(enabled=True, removed_at=None, last_outcome=Endpoint.Outcome.ERROR)


def _failing_for_an_hour(now: datetime) -> "QuerySet[Endpoint]":
    """Keep those with an error that is older than an hour, and no success in its hour or after it.

    Deliveries are counted by the hour in which they end: what ended in the hour before the last is an hour old.
    """
    this_hour = now.replace(minute=0, second=0, microsecond=0)
    stats = HourlyStats.objects.filter(hour__gt=this_hour - LOOKED_BACK, hour__lt=this_hour - HOUR, errors__gt=0)
    later_success = HourlyStats.objects.filter(
        endpoint_id=OuterRef("endpoint_id"), hour__gte=OuterRef("hour"), successes__gt=0
    )
    return _failing().filter(pk__in=stats.exclude(Exists(later_success)).values("endpoint_id"))


def _occurrence(endpoint: Endpoint) -> Occurrence:
    data: dict[str, Any] = {"url": Truncator(endpoint.recorded_url).chars(LONGEST_SHOWN)}
    return Occurrence(tenant=endpoint.tenant, key=str(endpoint.uuid), object_id=str(endpoint.uuid), data=data)
