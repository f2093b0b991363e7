"""The installation of an automation from a pack."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction

from agency.actors import Actor
from config.db import violated_constraint
from workspaces.automations.flows.flow import Flow
from workspaces.automations.models import Automation
from workspaces.automations.services.publishing import freeze_draft, publishing_problems
from workspaces.subaccounts.models import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """The pack and entry that an automation comes from. `original` is the library's id, or a digest of the copy."""

    pack: UUID
    entry: UUID
    pack_name: str = ""
    original: str = ""


def install_automation(
    *,
    workspace: Workspace,
    origin: Origin,
    name: str,
    platform: str,
    flow: Flow,
    slots: list[dict[str, Any]],
    requires: list[str],
    now: datetime,
    by: Actor,
) -> Automation | None:
    """Add an automation, switched off. Gives None if its entry is installed already.

    It is published at once if it has no open slots or other problems. The caller must be in a transaction, hold the
    workspace's lock and record all installed automations in one activity entry.
    """
    try:
        with transaction.atomic():
            automation = Automation.objects.create(
                workspace=workspace,
                name=name,
                platform=platform,
                trigger=flow["trigger"]["type"],
                draft=flow,
                slots=slots,
                requires=requires,
                from_pack=origin.pack,
                from_entry=origin.entry,
                from_pack_name=origin.pack_name,
                from_original=origin.original,
                created_at=now,
                updated_at=now,
            )
    except IntegrityError as error:
        if violated_constraint(error) != "automation_installed_once":
            raise
        return None
    if not publishing_problems(automation):
        freeze_draft(automation, now=now, by=by)
    return automation
