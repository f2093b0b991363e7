"""Notifications about an agency itself: its jobs, domains and team, its lasting states, keys that expire."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from agency.models import Agency, AgencyKey, BulkOperation, Domain, Export, Invitation, MailSettings, User
from agency.models.agencies import EXPIRES, APIKey
from agency.models.jobs import Job
from agency.models.notifications import DeliveryMethod
from agency.notification_kinds import ALL_ROLES, NotificationKind
from agency.services.keys import KeyOf
from agency.services.mail.transport import FAILURES_BEFORE_REST
from agency.services.notifications.recording import (
    NewNotificationEvent,
    StateCheck,
    check_next_rows,
    close_states,
    open_states,
    record_notification,
    record_notifications,
)
from agency.tenants import Tenant
from config.formats import format_day, format_time

SUB_ACCOUNTS_NEAR_LIMIT: Final = "agency.near_limit"
MAIL_SERVER_FAILS: Final = "mail_server.fails"
# The state begins at nine tenths and ends below 0.85, so that one more or less does not notify again and again.
NEAR: Final = 0.9
NO_LONGER_NEAR: Final = 0.85


def check_sub_account_limits(now: datetime) -> bool:
    """Notify of agencies that have used nine tenths of their sub-accounts."""

    def check(agencies: Sequence[Agency]) -> None:
        open_states(SUB_ACCOUNTS_NEAR_LIMIT, [_nearly_used(one) for one in agencies if _uses(one, NEAR)], now=now)
        ended = {str(one.uuid) for one in agencies if not _uses(one, NO_LONGER_NEAR)}
        close_states(SUB_ACCOUNTS_NEAR_LIMIT, ended, now=now)

    rows = Agency.objects.only("uuid", "status", "max_sub_accounts", "sub_account_count")
    return check_next_rows(SUB_ACCOUNTS_NEAR_LIMIT, rows, check, now=now)


def _uses(agency: Agency, part: float) -> bool:
    most = agency.max_sub_accounts
    return bool(agency.status == Agency.Status.ACTIVE and most and agency.sub_account_count >= most * part)


def _nearly_used(agency: Agency) -> NewNotificationEvent:
    used = {"used": agency.sub_account_count, "allowed": agency.max_sub_accounts}
    return NewNotificationEvent(tenant=Tenant(agency.pk), key=str(agency.uuid), data=used)


def check_mail_servers(now: datetime) -> bool:
    """Notify of agencies' own mail servers that fail, for which the installation's stands in."""

    def check(servers: Sequence[MailSettings]) -> None:
        open_states(MAIL_SERVER_FAILS, [_failing_server(one) for one in servers if _fails(one)], now=now)
        close_states(MAIL_SERVER_FAILS, {str(one.agency.uuid) for one in servers if not _fails(one)}, now=now)

    rows = MailSettings.objects.select_related("agency").only("host", "failures", "agency__uuid")
    return check_next_rows(MAIL_SERVER_FAILS, rows, check, now=now)


def _fails(server: MailSettings) -> bool:
    return bool(server.host) and server.failures >= FAILURES_BEFORE_REST


def _failing_server(server: MailSettings) -> NewNotificationEvent:
    return NewNotificationEvent(
        tenant=Tenant(server.agency_id), key=str(server.agency.uuid), data={"host": server.host}
    )


BULK_CHANGE_ENDED: Final = "bulk_change.ended"
EXPORT_ENDED: Final = "export.ended"
INVITATION_ACCEPTED: Final = "invitation.accepted"
DOMAIN_FAILS: Final = "domain.fails"


def _with_state(data: Mapping[str, Any]) -> Mapping[str, object]:
    return {**data, "state": Job.State(data["state"]).label}


AGENCY_KINDS: Final = (
    NotificationKind(
        name=SUB_ACCOUNTS_NEAR_LIMIT,
        label=_("Limit on the number of sub-accounts nearly reached"),
        text=_("%(used)s of %(allowed)s sub-accounts are used."),
        url_name="console:sub-accounts",
        roles=ALL_ROLES,
    ),
    NotificationKind(
        name=MAIL_SERVER_FAILS,
        label=_("Mail server failing"),
        text=_("Your mail server %(host)s is failing. We use our server instead."),
        url_name="console:mail",
    ),
    NotificationKind(
        name=DOMAIN_FAILS,
        label=_("Domain record missing"),
        text=_("The TXT record of %(host)s is gone."),
        url_name="console:domain",
        names_object=True,
        has_own_mail=True,
    ),
    NotificationKind(
        name=INVITATION_ACCEPTED,
        label=_("Invitation accepted"),
        text=_("%(email)s has joined the team."),
        url_name="console:team",
        roles=ALL_ROLES,
        usual=DeliveryMethod.CONSOLE,
    ),
    NotificationKind(
        name=BULK_CHANGE_ENDED,
        label=_("Bulk change ended"),
        text=_("A bulk change has ended: %(state)s."),
        url_name="console:bulk-operation",
        names_object=True,
        usual=DeliveryMethod.CONSOLE,
        words=_with_state,
    ),
    NotificationKind(
        name=EXPORT_ENDED,
        label=_("Export ended"),
        text=_("An export has ended: %(state)s."),
        url_name="console:export",
        names_object=True,
        usual=DeliveryMethod.CONSOLE,
        words=_with_state,
    ),
)


def notify_of_ended_job(job: BulkOperation | Export, *, now: datetime) -> None:
    """Notify the person who asked for a job that it has ended by itself; the caller is inside its transaction."""
    record_notification(
        tenant=Tenant(job.agency_id),
        kind=EXPORT_ENDED if isinstance(job, Export) else BULK_CHANGE_ENDED,
        key=f"{job.uuid}:{now.isoformat()}",  # a job that support begins again ends again
        object_id=str(job.uuid),
        data={"state": str(job.state)},
        only_user=job.created_by,
        now=now,
    )


def notify_of_new_member(invitation: Invitation, *, user: User, now: datetime) -> None:
    """Notify the staff that a person has joined the team."""
    record_notification(
        tenant=Tenant(invitation.agency_id),
        kind=INVITATION_ACCEPTED,
        key=str(invitation.uuid),
        data={"email": user.email},
        now=now,
    )


def notify_of_missing_record(domain: Domain, *, now: datetime) -> None:
    """Notify the staff that a domain's record is gone, or that the domain is no longer served."""
    record_notification(
        tenant=Tenant(domain.agency_id),
        kind=DOMAIN_FAILS,
        key=f"{domain.uuid}:{now.isoformat()}",
        object_id=str(domain.uuid),
        data={"host": domain.host},
        now=now,
    )


KEY_EXPIRES: Final = "api_key.expires"
WEEK, DAY = timedelta(days=7), timedelta(days=1)
EVERY: Final = timedelta(minutes=15)
LABEL: Final = _("API key expires")
TEXT: Final = _("The API key %(name)s (%(prefix)s…) expires on %(day)s at %(time)s UTC. Roll it before then.")


def with_time(data: Mapping[str, Any]) -> Mapping[str, object]:
    ends = datetime.fromisoformat(data["expires_at"])
    return {**data, "day": format_day(ends), "time": format_time(ends)}


EXPIRING_KEY_KINDS: Final = (
    NotificationKind(name=KEY_EXPIRES, label=LABEL, text=TEXT, url_name="console:api-keys", words=with_time),
)


def notify_of_expiring_keys(
    kind: str, keys: "QuerySet[KeyOf]", tenant_of_key: Callable[[KeyOf], Tenant], now: datetime
) -> bool:
    """Notify of the keys that expire within a week, once, and again within a day; rolled keys are left out."""

    def check(found: Sequence[KeyOf]) -> None:
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


def _occurrence(key: APIKey, step: str, tenant: Tenant) -> NewNotificationEvent:
    expires_at = key.expires_at.isoformat() if key.expires_at else ""
    data = {"name": key.name, "prefix": key.prefix, "expires_at": expires_at}
    return NewNotificationEvent(tenant=tenant, key=f"{key.uuid}:{step}", data=data)


def check_agency_keys(now: datetime) -> bool:
    """Notify of agencies' keys that are about to expire."""
    return notify_of_expiring_keys(KEY_EXPIRES, AgencyKey.objects.all(), lambda key: Tenant(key.agency_id), now)


STATE_CHECKS: Final = (StateCheck("API keys of agencies that expire", check_agency_keys),)
