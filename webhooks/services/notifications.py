"""Notifies an agency's staff, or a workspace's members, of endpoints that have failed for more than an hour."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from django.db.models import QuerySet
from django.utils.text import Truncator
from django.utils.translation import gettext_lazy as _

from agency.models import NotificationEvent
from agency.notification_kinds import NotificationKind
from agency.services.notifications.recording import (
    NewNotificationEvent,
    StateCheck,
    check_next_rows,
    end_next_states,
    open_states,
)
from agency.tenants import Audience
from webhooks.models import Endpoint

ENDPOINT_FAILS: Final = "endpoint.fails"
WORKSPACE_ENDPOINT_FAILS: Final = "workspace.endpoint_fails"
HOUR: Final = timedelta(hours=1)
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


def check_failing_endpoints(now: datetime) -> bool:
    """Begin notifications for the next endpoints that have failed for an hour without a success."""

    def check(endpoints: Sequence[Endpoint]) -> None:
        lasting = [one for one in endpoints if one.failing_since and one.failing_since <= now - HOUR]
        for kind, of_agencies in ((ENDPOINT_FAILS, True), (WORKSPACE_ENDPOINT_FAILS, False)):
            found = [_occurrence(one) for one in lasting if (one.workspace_id is None) == of_agencies]
            open_states(kind, found, now=now)

    return check_next_rows("failing endpoints", _failing(), check, now=now)


def end_failures_of_agencies(now: datetime) -> bool:
    """End the notifications of agencies' endpoints that no longer fail."""
    return end_next_states(ENDPOINT_FAILS, _ended, now)


def end_failures_of_workspaces(now: datetime) -> bool:
    """End the notifications of workspaces' endpoints that no longer fail."""
    return end_next_states(WORKSPACE_ENDPOINT_FAILS, _ended, now)


def _failing() -> "QuerySet[Endpoint]":
    return Endpoint.objects.filter(enabled=True, removed_at=None, failing_since__isnull=False)


def _ended(events: Sequence[NotificationEvent]) -> set[str]:
    """Return the keys of the events whose endpoint has stopped failing since they were recorded."""
    rows = _failing().filter(uuid__in=[one.key for one in events]).values_list("uuid", "failing_since")
    since = {str(uuid): at for uuid, at in rows}
    return {one.key for one in events if (at := since.get(one.key)) is None or at > one.created_at}


def _occurrence(endpoint: Endpoint) -> NewNotificationEvent:
    data: dict[str, Any] = {"url": Truncator(endpoint.recorded_url).chars(LONGEST_SHOWN)}
    return NewNotificationEvent(tenant=endpoint.tenant, key=str(endpoint.uuid), object_id=str(endpoint.uuid), data=data)


STATE_CHECKS: Final = (
    StateCheck("endpoints of agencies that fail no longer", end_failures_of_agencies),
    StateCheck("endpoints of workspaces that fail no longer", end_failures_of_workspaces),
    StateCheck("failing endpoints", check_failing_endpoints),
)
