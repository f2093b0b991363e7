"""What lasts at an agency itself: its own limit nearly used up, its mail server failing."""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from django.db.models import F, QuerySet

from agency.models import Agency, MailSettings
from agency.services.mail.servers import FAILURES_BEFORE_REST
from agency.services.notifications.recording import Occurrence
from agency.services.notifications.states import BATCH, begin_states, end_states, is_open, open_keys
from agency.tenants import Tenant

SUB_ACCOUNTS_NEAR_LIMIT: Final = "agency.near_limit"
MAIL_SERVER_FAILS: Final = "mail_server.fails"
# Nine tenths begin it; it has ended below eight and a half, so that one more or less does not tell it again and again.
NEAR: Final = 0.9
NO_LONGER_NEAR: Final = 0.85


def check_sub_account_limits(now: datetime) -> bool:
    """Tell of agencies that have used nine tenths of their sub-accounts."""
    new = _near(NEAR).exclude(is_open(SUB_ACCOUNTS_NEAR_LIMIT, "uuid")).order_by("pk")[:BATCH]
    found = [
        Occurrence(
            tenant=Tenant(one.pk),
            key=str(one.uuid),
            data={"used": one.sub_account_count, "allowed": one.max_sub_accounts},
        )
        for one in new
    ]
    begin_states(SUB_ACCOUNTS_NEAR_LIMIT, found, now=now)
    for keys in open_keys(SUB_ACCOUNTS_NEAR_LIMIT):
        end_states(SUB_ACCOUNTS_NEAR_LIMIT, gone(keys, _near(NO_LONGER_NEAR).filter(uuid__in=keys), "uuid"), now=now)
    return len(found) == BATCH


def _near(part: float) -> "QuerySet[Agency]":
    limited = Agency.objects.filter(status=Agency.Status.ACTIVE, max_sub_accounts__gt=0)
    return limited.filter(sub_account_count__gte=F("max_sub_accounts") * part)


def check_mail_servers(now: datetime) -> bool:
    """Tell of agencies' own mail servers that fail, and for which the installation's stands in."""
    failing = MailSettings.objects.exclude(host="").filter(failures__gte=FAILURES_BEFORE_REST)
    new = failing.exclude(is_open(MAIL_SERVER_FAILS, "agency__uuid")).select_related("agency").order_by("pk")[:BATCH]
    found = [Occurrence(tenant=Tenant(one.agency_id), key=str(one.agency.uuid), data={"host": one.host}) for one in new]
    begin_states(MAIL_SERVER_FAILS, found, now=now)
    for keys in open_keys(MAIL_SERVER_FAILS):
        end_states(MAIL_SERVER_FAILS, gone(keys, failing.filter(agency__uuid__in=keys), "agency__uuid"), now=now)
    return len(found) == BATCH


def gone(keys: Iterable[str], rows: "QuerySet[Agency] | QuerySet[MailSettings]", column: str) -> set[str]:
    """Give the keys for which there is no row any more."""
    return set(keys) - {str(uuid) for uuid in rows.values_list(column, flat=True)}
