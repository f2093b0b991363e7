"""Records changes of packs in the activity log."""

from typing import Any

from agency.actors import Actor
from agency.services import record_activity
from agency.services.activity import Changes
from packs.models import Pack


def record_pack_activity(pack: Pack, action: str, by: Actor, changes: Changes | None = None, **details: Any) -> None:
    target = ("pack", pack.uuid, pack.name)
    record_activity(by=by, action=action, agency_id=pack.agency_id, target=target, details=details, changes=changes)
