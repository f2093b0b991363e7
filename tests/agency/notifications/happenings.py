"""What people are told of, made to happen as it does in the product: one for each kind."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import Agency, BulkOperation, Domain, Export, Invitation, MailSettings, Member, User
from agency.providers.dns import HostRecords
from agency.services import accept_invitation, invite_member
from agency.services.bulk.operations import end_bulk_operation
from agency.services.domains.checks import record_check
from agency.tasks import check_lasting_states, run_jobs, tell_people
from broadcasts.models import Broadcast, BroadcastCount
from broadcasts.services.moving import pause_for_fault
from tests.broadcasts.under_way import a_broadcast
from tests.factories import ChannelFactory, DomainFactory, EndpointFactory, UserFactory
from tests.tenants import Tenant
from webhooks.models import Endpoint
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import change_owner, invite_workspace_member, mark_channel_lost, tenant_of


def staff_of(tenant: Tenant) -> User:
    """The admin whose jobs these are."""
    return Member.objects.get(agency=tenant.agency, role="admin").user


def failing_endpoint(tenant: Tenant, *, of_workspace: bool = False) -> Endpoint:
    own = tenant_of(tenant.workspace)
    made = EndpointFactory.create(agency=tenant.agency)
    of = {"workspace_id": own.workspace_id, "workspace_uuid": own.workspace_uuid} if of_workspace else {}
    since = now() - timedelta(hours=1)
    Endpoint.objects.filter(pk=made.pk).update(last_outcome="error", failing_since=since, **of)
    return made


def endpoint_fails(tenant: Tenant) -> None:
    failing_endpoint(tenant)


def workspace_endpoint_fails(tenant: Tenant) -> None:
    failing_endpoint(tenant, of_workspace=True)


def channel_is_lost(tenant: Tenant) -> None:
    channel = ChannelFactory.create(workspace=tenant.workspace)
    mark_channel_lost(channel=channel, reason="revoked", now=now(), by=SYSTEM)


def sub_accounts_run_out(tenant: Tenant) -> None:
    assert tenant.workspace.agency_id == tenant.agency.pk
    Agency.objects.filter(pk=tenant.agency.pk).update(max_sub_accounts=1)


def channels_run_out(tenant: Tenant) -> None:
    held = tenant.workspace.limits
    limits = {**held, "channels": {**held["channels"], "telegram": 10}}
    Workspace.objects.filter(pk=tenant.workspace.pk).update(limits=limits)
    for _ in range(9):
        ChannelFactory.create(workspace=tenant.workspace, platform="telegram")


def broadcast_is_paused(tenant: Tenant) -> None:
    made = a_broadcast(tenant.workspace)
    pause_for_fault([made.pk], "The number is blocked.", now())


def held_broadcast(tenant: Tenant) -> Broadcast:
    made = a_broadcast(tenant.workspace)
    BroadcastCount.objects.create(broadcast_id=made.pk, bucket=1, held=5)
    BroadcastCount.objects.create(broadcast_id=made.pk, bucket=2, held=-2)
    return made


def broadcast_is_held(tenant: Tenant) -> None:
    held_broadcast(tenant)


def _accepted(invitation: Invitation, user: User) -> None:
    accept_invitation(invitation=invitation, user=user, now=now(), by=SYSTEM)


def member_accepts(tenant: Tenant) -> None:
    new = UserFactory.create()
    made = invite_member(agency=tenant.agency, email=new.email, name="Nora", role="viewer", now=now(), by=SYSTEM)
    _accepted(made, new)


def owner_accepts(tenant: Tenant) -> None:
    new = UserFactory.create(password="correct-horse-battery")
    change_owner(workspace=tenant.workspace, name="Nora", email=new.email, now=now(), by=SYSTEM)
    _accepted(Invitation.objects.get(email=new.email), new)


def person_accepts(tenant: Tenant) -> None:
    new = UserFactory.create()
    workspace = tenant.workspace
    made = invite_workspace_member(workspace=workspace, email=new.email, name="Nora", now=now(), by=SYSTEM)
    _accepted(made, new)


def export_ends(tenant: Tenant) -> None:
    Export.objects.create(agency=tenant.agency, created_by=staff_of(tenant), kind="activity", format="csv")
    run_jobs()


def bulk_change_ends(tenant: Tenant) -> None:
    made = BulkOperation.objects.create(
        agency=tenant.agency, created_by=staff_of(tenant), kind="sub_accounts.suspend", state="running"
    )
    end_bulk_operation(made, BulkOperation.State.COMPLETED, now=now())
    end_bulk_operation(made, BulkOperation.State.COMPLETED, now=now())


def mail_server_fails(tenant: Tenant) -> None:
    MailSettings.objects.create(
        agency=tenant.agency, host="mail.example", port=465, security="tls", from_address="a@mail.example", failures=3
    )


def domain_fails(tenant: Tenant) -> None:
    domain: Domain = DomainFactory.create(agency=tenant.agency)
    record_check(domain=domain, records=HostRecords(texts=(), points_here=True), now=now(), by=SYSTEM)


@dataclass(frozen=True)
class Happening:
    """`staff` are the roles of the agency's people who are told, and `people` whether those of the workspace are."""

    happen: Callable[[Tenant], None]
    staff: tuple[str, ...] = ("owner", "admin")
    people: bool = False


EVERYBODY = ("owner", "admin", "viewer")
HAPPENINGS = {
    "agency.near_limit": Happening(sub_accounts_run_out, EVERYBODY),
    "mail_server.fails": Happening(mail_server_fails),
    "domain.fails": Happening(domain_fails),
    "invitation.accepted": Happening(member_accepts, EVERYBODY),
    "bulk_change.ended": Happening(bulk_change_ends, ("admin",)),
    "export.ended": Happening(export_ends, ("admin",)),
    "channel.lost": Happening(channel_is_lost, EVERYBODY),
    "sub_account.near_limit": Happening(channels_run_out, EVERYBODY),
    "sub_account.owner_accepted": Happening(owner_accepts, EVERYBODY),
    "workspace.channel_lost": Happening(channel_is_lost, (), people=True),
    "workspace.near_limit": Happening(channels_run_out, (), people=True),
    "workspace.person_joined": Happening(person_accepts, (), people=True),
    "endpoint.fails": Happening(endpoint_fails),
    "workspace.endpoint_fails": Happening(workspace_endpoint_fails, (), people=True),
    "broadcast.paused": Happening(broadcast_is_paused, EVERYBODY),
    "workspace.broadcast_paused": Happening(broadcast_is_paused, (), people=True),
    "workspace.broadcast_held": Happening(broadcast_is_held, (), people=True),
}


def tell() -> None:
    """What beat asks for: find what lasts, and tell people."""
    check_lasting_states()
    tell_people()
