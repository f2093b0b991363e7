"""Update services name their fields: the type checker refuses a field that is misspelt or that another service changes.

`make lint` proves it, and nothing here is ever run. A call that is refused says so by its `type: ignore`, which mypy
calls unused as soon as the call is accepted. A new update service joins with a call of each kind.
"""

from agency.actors import SYSTEM
from agency.models import Plan, User
from agency.services import update_item
from agency.services.members import change_user
from packs.models import Pack, PackEntry
from packs.services import change_entry, change_pack
from webhooks.models import Endpoint
from webhooks.services.endpoints import update_endpoint
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import change_workspace


def accepted(workspace: Workspace, endpoint: Endpoint, pack: Pack, entry: PackEntry, plan: Plan, user: User) -> None:
    change_workspace(workspace=workspace, by=SYSTEM, name="New", business_type=None)
    change_workspace(workspace=workspace, by=SYSTEM)
    change_workspace(workspace=workspace, by=SYSTEM, external_id=None, metadata={"region": "north"})
    update_endpoint(endpoint=endpoint, by=SYSTEM, events=["addon.granted"], enabled=False)
    change_pack(pack=pack, by=SYSTEM, summary=None, status="archived")
    change_entry(entry=entry, by=SYSTEM, tier="optional", requires=[])
    update_item(item=plan, by=SYSTEM, name="Growth")
    change_user(user=user, by=SYSTEM, name="Ada")


def refused(workspace: Workspace, endpoint: Endpoint, pack: Pack, entry: PackEntry, plan: Plan, user: User) -> None:
    change_workspace(workspace=workspace, by=SYSTEM, status="suspended")  # type: ignore[call-arg]
    change_workspace(workspace=workspace, by=SYSTEM, nmae="New")  # type: ignore[call-arg]
    change_workspace(workspace=workspace, by=SYSTEM, name=None)  # type: ignore[arg-type]
    change_workspace(workspace=workspace, by=SYSTEM, metadata={"region": 1})  # type: ignore[dict-item]
    update_endpoint(endpoint=endpoint, by=SYSTEM, secret="whsec_")  # type: ignore[call-arg]
    update_endpoint(endpoint=endpoint, by=SYSTEM, event=["addon.granted"])  # type: ignore[call-arg]
    change_pack(pack=pack, by=SYSTEM, agency=None)  # type: ignore[call-arg]
    change_entry(entry=entry, by=SYSTEM, teir="optional")  # type: ignore[call-arg]
    update_item(item=plan, by=SYSTEM, nmae="Growth")  # type: ignore[call-arg]
    change_user(user=user, by=SYSTEM, is_stff=True)  # type: ignore[call-arg]
