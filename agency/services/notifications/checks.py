"""Lasting states of an agency itself: its sub-account limit nearly used up, its mail server failing."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from agency.models import Agency, MailSettings
from agency.services.mail.servers import FAILURES_BEFORE_REST
from agency.services.notifications.recording import Occurrence
from agency.services.notifications.states import begin_states, check_next_rows, end_states
from agency.tenants import Tenant

SUB_ACCOUNTS_NEAR_LIMIT: Final = "agency.near_limit"
MAIL_SERVER_FAILS: Final = "mail_server.fails"
# The state begins at nine tenths and ends below 0.85, so that one more or less does not notify again and again.
NEAR: Final = 0.9
NO_LONGER_NEAR: Final = 0.85


def check_sub_account_limits(now: datetime) -> bool:
    """Notify of agencies that have used nine tenths of their sub-accounts."""

    def check(agencies: Sequence[Agency]) -> None:
        begin_states(SUB_ACCOUNTS_NEAR_LIMIT, [_nearly_used(one) for one in agencies if _uses(one, NEAR)], now=now)
        ended = {str(one.uuid) for one in agencies if not _uses(one, NO_LONGER_NEAR)}
        end_states(SUB_ACCOUNTS_NEAR_LIMIT, ended, now=now)

    rows = Agency.objects.only("uuid", "status", "max_sub_accounts", "sub_account_count")
    return check_next_rows(SUB_ACCOUNTS_NEAR_LIMIT, rows, check, now=now)


def _uses(agency: Agency, part: float) -> bool:
    most = agency.max_sub_accounts
    return bool(agency.status == Agency.Status.ACTIVE and most and agency.sub_account_count >= most * part)


def _nearly_used(agency: Agency) -> Occurrence:
    used = {"used": agency.sub_account_count, "allowed": agency.max_sub_accounts}
    return Occurrence(tenant=Tenant(agency.pk), key=str(agency.uuid), data=used)


def check_mail_servers(now: datetime) -> bool:
    """Notify of agencies' own mail servers that fail, for which the installation's stands in."""

    def check(servers: Sequence[MailSettings]) -> None:
        begin_states(MAIL_SERVER_FAILS, [_failing_server(one) for one in servers if _fails(one)], now=now)
        end_states(MAIL_SERVER_FAILS, {str(one.agency.uuid) for one in servers if not _fails(one)}, now=now)

    rows = MailSettings.objects.select_related("agency").only("host", "failures", "agency__uuid")
    return check_next_rows(MAIL_SERVER_FAILS, rows, check, now=now)


def _fails(server: MailSettings) -> bool:
    return bool(server.host) and server.failures >= FAILURES_BEFORE_REST


def _failing_server(server: MailSettings) -> Occurrence:
    return Occurrence(tenant=Tenant(server.agency_id), key=str(server.agency.uuid), data={"host": server.host})
