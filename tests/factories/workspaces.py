"""Sub-accounts with their people, channels, keys and files."""

from datetime import datetime
from io import BytesIO
from typing import Any, Unpack

from django.db import connection
from django.utils.timezone import now
from factory.declarations import Sequence, SubFactory

from agency.actors import SYSTEM
from agency.models import Agency, User
from agency.services import accept_invitation
from agency.services.keys import KeyLimits
from packs.models import StarterPack
from tests.factories.agencies import AgencyFactory, UserFactory
from tests.factories.base import A_MOMENT_AGO, ByService
from workspaces.media.models import Media
from workspaces.media.services import store_media
from workspaces.subaccounts.models import Channel, Workspace, WorkspaceKey, WorkspaceMember
from workspaces.subaccounts.services import (
    connect_channel,
    create_workspace,
    invite_workspace_member,
    issue_workspace_key,
)
from workspaces.subaccounts.services.owners import send_owner_link


class WorkspaceFactory(ByService[Workspace]):
    class Meta:
        model = Workspace

    agency = SubFactory(AgencyFactory)
    name = Sequence(lambda number: f"Customer {number}")
    owner_name = Sequence(lambda number: f"Owner {number}")
    owner_email = Sequence(lambda number: f"owner-{number}@example.com")
    now = A_MOMENT_AGO

    @classmethod
    def make(cls, **values: Any) -> Workspace:
        """Make one that is its owner's; somebody without a password has been sent a link to set one."""
        workspace = create_workspace(**values, ask_owner=False)
        if not workspace.owner.has_usable_password():
            send_owner_link(workspace, workspace.agency)
        return workspace


class WorkspaceMemberFactory(ByService[WorkspaceMember]):
    """Somebody who was invited to a workspace and has accepted."""

    class Meta:
        model = WorkspaceMember

    workspace = SubFactory(WorkspaceFactory)
    email = Sequence(lambda number: f"colleague-{number}@example.com")
    name = Sequence(lambda number: f"Colleague {number}")
    now = A_MOMENT_AGO

    @classmethod
    def make(cls, **values: Any) -> WorkspaceMember:
        asked = invite_workspace_member(**values)
        user = User.objects.filter(email=asked.email).first()
        user = user or User.objects.create_user(asked.email, "correct-horse-battery", name=values["name"])
        accept_invitation(invitation=asked, user=user, now=now(), by=SYSTEM)
        return WorkspaceMember.objects.select_related("user", "workspace").get(workspace=values["workspace"], user=user)


class ChannelFactory(ByService[Channel]):
    class Meta:
        model = Channel

    workspace = SubFactory(WorkspaceFactory)
    platform = "whatsapp"
    external_id = Sequence(lambda number: f"account-{number}")
    name = Sequence(lambda number: f"Number {number}")
    handle = Sequence(lambda number: f"+4930{number:07d}")
    now = A_MOMENT_AGO

    @classmethod
    def make(cls, *, starter_pack: bool = True, **values: Any) -> Channel:
        """Connect one. The first brings a starter pack in some thirty statements, or none if it was given before."""
        if not starter_pack:
            StarterPack.objects.bulk_create([StarterPack(workspace=values["workspace"])], ignore_conflicts=True)
        return connect_channel(**values)


def a_workspace_key(
    workspace: Workspace, *, name: str = "Shop", **limits: Unpack[KeyLimits]
) -> tuple[WorkspaceKey, str]:
    return issue_workspace_key(workspace=workspace, name=name, by=SYSTEM, **limits)


def many_workspaces(agency: Agency, count: int, *, since: datetime | None = None) -> None:
    """Add sub-accounts in one statement: `Crowd 1` is the oldest, a second apart, owned by one person."""
    owner = UserFactory.create()
    with connection.cursor() as cursor:
        cursor.execute(
            """INSERT INTO subaccounts_workspace (uuid, agency_id, name, name_key, status, suspension_reason, limits,
                   owner_id, owner_name, owner_email, owner_key, timezone, created_at, business_type)
               SELECT gen_random_uuid(), %(agency)s, 'Crowd ' || number, 'crowd ' || number, 'active', '', %(limits)s,
                   %(owner)s, 'Owner', %(email)s, 'owner' || E'\\n' || %(email)s, 'UTC',
                   %(since)s + number * interval '1 second', 'other'
               FROM generate_series(1, %(count)s) AS number""",
            {
                "agency": agency.pk,
                "limits": '{"contacts": null}',
                "owner": owner.pk,
                "email": owner.email,
                "since": since or datetime.fromisoformat("2026-01-01T00:00:00Z"),
                "count": count,
            },
        )


def a_file(workspace: Workspace, content: bytes = b"%PDF-1.7\n", filename: str = "bill.pdf") -> Media:
    return store_media(
        workspace=workspace, file=BytesIO(content), filename=filename, source=Media.Source.UPLOADED, now=now()
    )
