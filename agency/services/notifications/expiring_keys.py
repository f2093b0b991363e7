"""API keys that are about to expire: their people are notified a week before, and a day before."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from agency.models import AgencyKey
from agency.models.keys import EXPIRES, APIKey
from agency.notification_kinds import NotificationKind
from agency.services.notifications.recording import Occurrence, record_notifications
from agency.services.notifications.states import StateCheck, check_next_rows
from agency.tenants import Tenant

KEY_EXPIRES: Final = "api_key.expires"
WEEK, DAY = timedelta(days=7), timedelta(days=1)
EVERY: Final = timedelta(minutes=15)
LABEL: Final = _("API key expires")
TEXT: Final = _("The API key %(name)s (%(prefix)s…) expires on %(day)s at %(time)s UTC. Roll it before.")


def with_time(data: Mapping[str, Any]) -> Mapping[str, Any]:
    ends = datetime.fromisoformat(data["expires_at"])
    return {**data, "day": f"{ends:%Y-%m-%d}", "time": f"{ends:%H:%M}"}


KINDS: Final = (
    NotificationKind(name=KEY_EXPIRES, label=LABEL, text=TEXT, url_name="console:api-keys", words=with_time),
)


def tell_of_expiring_keys(
    kind: str, keys: "QuerySet[Any]", tenant_of_key: Callable[[Any], Tenant], now: datetime
) -> bool:
    """Notify of the keys that expire within a week, once, and again within a day; rolled keys are left out."""

    def check(found: Sequence[Any]) -> None:
        due = [(key, _step(key, now)) for key in found]
        happened = [_occurrence(key, step, tenant_of_key(key)) for key, step in due if step]
        record_notifications(kind, happened, now=now, lasts=False)

    rows = keys.filter(EXPIRES, expires_at__gt=now, expires_at__lte=now + WEEK)
    return check_next_rows(kind, rows, check, now=now, every=EVERY)


def _step(key: APIKey, now: datetime) -> str:
    """Return whether the notice of a `week` or a `day` is due; a key made for no longer than that has none."""
    if key.expires_at is None:
        return ""
    if key.expires_at <= now + DAY:
        return "day" if key.expires_at - key.created_at > DAY else ""
    return "week" if key.expires_at - key.created_at > WEEK else ""


def _occurrence(key: APIKey, step: str, tenant: Tenant) -> Occurrence:
    expires_at = key.expires_at.isoformat() if key.expires_at else ""
    data = {"name": key.name, "prefix": key.prefix, "expires_at": expires_at}
    return Occurrence(tenant=tenant, key=f"{key.uuid}:{step}", data=data)


def check_agency_keys(now: datetime) -> bool:
    """Notify of agencies' keys that are about to expire."""
    return tell_of_expiring_keys(KEY_EXPIRES, AgencyKey.objects.all(), lambda key: Tenant(key.agency_id), now)


STATE_CHECKS: Final = (StateCheck("API keys of agencies that expire", check_agency_keys),)
