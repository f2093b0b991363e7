"""Notifications about a sub-account, and an agency's messages to the owners of its sub-accounts."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.db.models import Q, QuerySet, Value
from django.utils.translation import gettext_lazy as _

from agency.actors import Actor
from agency.limits import LABELS
from agency.models import Agency, Mail, NotificationEvent, User
from agency.models.notifications import DeliveryMethod
from agency.notification_kinds import ALL_ROLES, NotificationKind
from agency.services import queue_mail
from agency.services.notifications.agency_kinds import LABEL, TEXT, notify_of_expiring_keys, with_time
from agency.services.notifications.delivery import HAS_TWO_FACTOR, RecipientSource
from agency.services.notifications.recording import record_notification
from agency.tenants import Audience, Tenant
from config.errors import Conflict
from workspaces.subaccounts.models import Channel, Workspace, WorkspaceKey, WorkspaceMember
from workspaces.subaccounts.services.recording import lock_workspace, record_workspace_activity, tenant_of

CHANNEL_LOST: Final = "channel.lost"
WORKSPACE_CHANNEL_LOST: Final = "workspace.channel_lost"
NEAR_LIMIT: Final = "sub_account.near_limit"
WORKSPACE_NEAR_LIMIT: Final = "workspace.near_limit"
OWNER_ACCEPTED: Final = "sub_account.owner_accepted"
CHANNEL_REQUESTED: Final = "sub_account.channel_requested"
PERSON_JOINED: Final = "workspace.person_joined"
WORKSPACE_KEY_EXPIRES: Final = "workspace.api_key_expires"


def _with_label(data: Mapping[str, str]) -> Mapping[str, object]:
    return {**data, "label": LABELS.get(data["limit"], data["limit"])}


KINDS: Final = (
    NotificationKind(
        name=CHANNEL_LOST,
        label=_("Channel disconnected"),
        text=_("%(channel)s of %(workspace)s is disconnected. Its owner has to connect it again."),
        url_name="console:sub-account",
        names_object=True,
        roles=ALL_ROLES,
    ),
    NotificationKind(
        name=NEAR_LIMIT,
        label=_("Limit of a sub-account nearly reached"),
        text=_("%(workspace)s uses %(used)s of %(allowed)s %(label)s."),
        url_name="console:sub-account",
        names_object=True,
        roles=ALL_ROLES,
        usual=DeliveryMethod.DIGEST,
        words=_with_label,
    ),
    NotificationKind(
        name=OWNER_ACCEPTED,
        label=_("Owner accepted"),
        text=_("The owner of %(workspace)s has accepted."),
        url_name="console:sub-account",
        names_object=True,
        roles=ALL_ROLES,
        usual=DeliveryMethod.CONSOLE,
    ),
    NotificationKind(
        name=CHANNEL_REQUESTED,
        label=_("Channel requested"),
        text=_("%(workspace)s asks you to connect a channel."),
        url_name="console:sub-account",
        names_object=True,
    ),
    NotificationKind(
        name=WORKSPACE_CHANNEL_LOST,
        label=_("Channel disconnected"),
        text=_("%(channel)s is disconnected. Connect it again."),
        url_name="app:channels",
        audience=Audience.WORKSPACE,
    ),
    NotificationKind(
        name=WORKSPACE_NEAR_LIMIT,
        label=_("Limit nearly reached"),
        text=_("%(used)s of %(allowed)s %(label)s are used."),
        url_name="app:home",
        audience=Audience.WORKSPACE,
        words=_with_label,
    ),
    NotificationKind(
        name=PERSON_JOINED,
        label=_("Invitation accepted"),
        text=_("%(email)s has joined."),
        url_name="app:people",
        audience=Audience.WORKSPACE,
        usual=DeliveryMethod.CONSOLE,
    ),
    NotificationKind(
        name=WORKSPACE_KEY_EXPIRES,
        label=LABEL,
        text=TEXT,
        url_name="app:api-keys",
        audience=Audience.WORKSPACE,
        words=with_time,
    ),
)


def _people(event: NotificationEvent, only_who_may_open: bool) -> "QuerySet[User]":
    """Give the owner and the members of the event's workspace, if it is active and still belongs to the agency."""
    rows = Workspace.objects.filter(
        uuid__in=[event.workspace_uuid],
        agency=event.agency_id,
        status=Workspace.Status.ACTIVE,
        agency__status=Agency.Status.ACTIVE,
    )
    owner = rows.filter(owner_pending_since=None).values("owner")
    members = WorkspaceMember.objects.filter(workspace__in=rows).values("user")
    people = User.objects.filter(Q(pk__in=owner) | Q(pk__in=members), is_active=True).annotate(role=Value("member"))
    if only_who_may_open and rows.filter(two_factor_required=True).exists():
        people = people.filter(HAS_TWO_FACTOR)
    return people


PEOPLE = RecipientSource(Audience.WORKSPACE, _people)


def notify_of_lost_channel(channel: Channel, *, now: datetime) -> None:
    """Notify the agency and the customer that a provider took a channel away, in the change's transaction."""
    notify_both(
        channel.workspace,
        (CHANNEL_LOST, WORKSPACE_CHANNEL_LOST),
        key=f"{channel.uuid}:{now.isoformat()}",
        data={"channel": channel.name},
        now=now,
    )


def notify_both(
    workspace: Workspace, kinds: tuple[str, str], *, key: str, data: Mapping[str, object], now: datetime
) -> None:
    """Record one notification for the agency's staff and one for the workspace's people, each of its own kind."""
    told = {**data, "workspace": workspace.name}
    staff, people = kinds
    record_notification(
        tenant=Tenant(workspace.agency_id), kind=staff, key=key, object_id=str(workspace.uuid), data=told, now=now
    )
    record_notification(tenant=tenant_of(workspace), kind=people, key=key, data=told, now=now)


def notify_of_accepted_owner(workspace: Workspace, *, now: datetime) -> None:
    """Notify the agency's staff that the owner has accepted a sub-account."""
    record_notification(
        tenant=Tenant(workspace.agency_id),
        kind=OWNER_ACCEPTED,
        key=f"{workspace.uuid}:{now.isoformat()}",
        object_id=str(workspace.uuid),
        data={"workspace": workspace.name},
        now=now,
    )


# Staff are asked once a day. The pages say for so many days that they were asked.
DAYS_SAID: Final = 7


def channel_requested_at(workspace: Workspace, *, now: datetime) -> datetime | None:
    """Return when the agency was last asked to connect a channel, if that was within the last days."""
    keys = [_request_key(workspace, now - timedelta(days=days)) for days in range(DAYS_SAID)]
    asked = NotificationEvent.objects.filter(kind=CHANNEL_REQUESTED, key__in=keys, ended_at=None)
    return asked.order_by("-created_at").values_list("created_at", flat=True).first()


def _request_key(workspace: Workspace, at: datetime) -> str:
    return f"{workspace.uuid}:{at:%Y-%m-%d}"


class ChannelRequestedAlready(Conflict):
    message = "The agency has been asked within the last 24 hours."


@transaction.atomic
def request_channel(*, workspace: Workspace, now: datetime, by: Actor) -> None:
    """Ask the agency's staff to connect a channel, once a day. Raises `ChannelRequestedAlready`."""
    workspace = lock_workspace(workspace)
    if was_requested_today(channel_requested_at(workspace, now=now), now=now):
        raise ChannelRequestedAlready
    record_notification(
        tenant=Tenant(workspace.agency_id),
        kind=CHANNEL_REQUESTED,
        key=_request_key(workspace, now),
        object_id=str(workspace.uuid),
        data={"workspace": workspace.name},
        now=now,
    )
    record_workspace_activity(workspace=workspace, action="channel.requested", by=by)


def was_requested_today(requested_at: datetime | None, *, now: datetime) -> bool:
    """Say whether a request was made within the last 24 hours."""
    return requested_at is not None and requested_at > now - timedelta(days=1)


def notify_of_new_person(member: WorkspaceMember, *, now: datetime) -> None:
    """Notify the people of a workspace that somebody has joined."""
    record_notification(
        tenant=tenant_of(member.workspace),
        kind=PERSON_JOINED,
        key=str(member.uuid),
        data={"email": member.user.email, "workspace": member.workspace.name},
        now=now,
    )


def check_workspace_keys(now: datetime) -> bool:
    """Notify the people of workspaces whose keys are about to expire."""
    keys = WorkspaceKey.objects.filter(workspace__isnull=False).select_related("workspace")
    return notify_of_expiring_keys(WORKSPACE_KEY_EXPIRES, keys, lambda key: tenant_of(key.workspace), now)


LONGEST_MESSAGE = 5_000


class OwnerHasNotAccepted(Conflict):
    message = "The owner has not accepted this sub-account yet."


@transaction.atomic
def send_owner_message(*, workspace: Workspace, text: str, by: Actor) -> None:
    """Queue an e-mail to a sub-account's owner. Raises `OwnerHasNotAccepted`.

    It is sent in the agency's name and within its limits. The activity log records that it was sent, without the text.
    """
    workspace = lock_workspace(workspace)
    if workspace.owner_pending_since is not None:
        raise OwnerHasNotAccepted
    context = {"text": text, "agency": workspace.agency.name, "workspace": workspace.name}
    queue_mail(kind=Mail.Kind.AGENCY_MESSAGE, user=workspace.owner, agency=workspace.agency, context=context)
    record_workspace_activity(workspace=workspace, action="workspace.message_sent", by=by)
