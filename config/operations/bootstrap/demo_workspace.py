"""The sub-account to try things with; it is known by its channel, whatever it is called later."""

from datetime import datetime

from agency.models import Agency, Member
from config.operations.bootstrap.actor import BOOTSTRAP
from config.operations.bootstrap.catalogue import last_plan
from workspaces.subaccounts.models import Channel, Workspace
from workspaces.subaccounts.services import create_workspace, save_channel

PLATFORM = "whatsapp"


def ensure_demo_workspace(agency: Agency, *, now: datetime) -> Workspace:
    """Make the demo workspace with its WhatsApp channel, owned by the agency's owner, where it is missing.

    Raises `SubAccountLimitReached` when the agency has no room for it.
    """
    account = f"demo-{agency.uuid}"
    channel = Channel.objects.select_related("workspace").filter(platform=PLATFORM, external_id=account).first()
    if channel:
        return channel.workspace
    workspace = _create(agency, now)
    save_channel(
        workspace=workspace,
        platform=PLATFORM,
        external_id=account,
        name="Demo number",
        handle="+1 555 0100",
        now=now,
        by=BOOTSTRAP,
    )
    return workspace


def _create(agency: Agency, now: datetime) -> Workspace:
    owner = Member.objects.select_related("user").filter(agency=agency, role=Member.Role.OWNER).earliest("id").user
    return create_workspace(
        agency=agency,
        name="Demo Workspace",
        owner_name=owner.name,
        owner_email=owner.email,
        plan=last_plan(agency),
        business_type="salon_spa",
        now=now,
        by=BOOTSTRAP,
    )
