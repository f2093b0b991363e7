"""Notifications of an agency's staff about the agency itself."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from django.utils.translation import gettext_lazy as _

from agency.models import BulkOperation, Domain, Export, Invitation, User
from agency.models.jobs import Job
from agency.models.notifications import Way
from agency.notification_kinds import EVERYBODY, NotificationKind
from agency.services.notifications.checks import MAIL_SERVER_FAILS, SUB_ACCOUNTS_NEAR_LIMIT
from agency.services.notifications.recording import record_notification
from agency.tenants import Tenant

BULK_CHANGE_ENDED: Final = "bulk_change.ended"
EXPORT_ENDED: Final = "export.ended"
INVITATION_ACCEPTED: Final = "invitation.accepted"
DOMAIN_FAILS: Final = "domain.fails"


def _with_state(data: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**data, "state": Job.State(data["state"]).label}


KINDS: Final = (
    NotificationKind(
        name=SUB_ACCOUNTS_NEAR_LIMIT,
        label=_("Most sub-accounts used"),
        text=_("%(used)s of %(allowed)s sub-accounts are used."),
        url_name="console:sub-accounts",
        roles=EVERYBODY,
    ),
    NotificationKind(
        name=MAIL_SERVER_FAILS,
        label=_("Mail server fails"),
        text=_("Your mail server %(host)s fails. Our server stands in."),
        url_name="console:mail",
    ),
    NotificationKind(
        name=DOMAIN_FAILS,
        label=_("Domain fails"),
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
        roles=EVERYBODY,
        usual=Way.CONSOLE,
    ),
    NotificationKind(
        name=BULK_CHANGE_ENDED,
        label=_("Bulk change ended"),
        text=_("A bulk change has ended: %(state)s."),
        url_name="console:bulk-operation",
        names_object=True,
        usual=Way.CONSOLE,
        words=_with_state,
    ),
    NotificationKind(
        name=EXPORT_ENDED,
        label=_("Export ended"),
        text=_("An export has ended: %(state)s."),
        url_name="console:export",
        names_object=True,
        usual=Way.CONSOLE,
        words=_with_state,
    ),
)


def notify_of_ended_job(job: BulkOperation | Export, *, now: datetime) -> None:
    """Notify the person who asked for a job that it has ended by itself; the caller is inside its transaction."""
    record_notification(
        tenant=Tenant(job.agency_id),
        kind=EXPORT_ENDED if isinstance(job, Export) else BULK_CHANGE_ENDED,
        key=str(job.uuid),
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
