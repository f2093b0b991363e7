"""Packs as an agency's integration makes them."""

import copy
from typing import Any

from django.utils.timezone import now

from agency.actors import SYSTEM
from packs.models import InstalledFlow
from packs.services import add_library_entry, change_pack, create_pack
from tests.factories.flows import Flow, a_flow
from tests.tenants import Tenant
from workspaces.automations.models import Automation
from workspaces.automations.services import create_automation, publish_automation
from workspaces.subaccounts.models import Workspace


class PackClient:
    """Calls an agency's packs' endpoints and gives what they answer under `data`."""

    def __init__(self, tenant: Tenant) -> None:
        self.api, self.agency = tenant.api, tenant.agency

    def all(self) -> list[dict[str, Any]]:
        return list(self.api.get("/packs").json()["data"])

    def new(self, name: str = "Starter", **fields: Any) -> str:
        answer = self.api.post("/packs", {"name": name, **fields})
        assert answer.status_code == 201, answer.content
        return str(answer.json()["data"]["uuid"])

    def with_entries(self, *items: str, name: str = "Starter", status: str | None = None, **fields: Any) -> str:
        """Make a pack by the services. Tests of the endpoints themselves use `new`, `add` and `change`."""
        pack = create_pack(agency=self.agency, name=name, by=SYSTEM, **fields)
        for item in items:
            add_library_entry(pack=pack, template_id=item, by=SYSTEM)
        if status:
            change_pack(pack=pack, status=status, by=SYSTEM)
        return str(pack.uuid)

    def read(self, pack: str) -> dict[str, Any]:
        return dict(self.api.get(f"/packs/{pack}").json()["data"])

    def change(self, pack: str, **changes: Any) -> dict[str, Any]:
        answer = self.api.patch(f"/packs/{pack}", changes)
        assert answer.status_code == 200, answer.content
        return dict(answer.json()["data"])

    def add(self, pack: str, item: str) -> dict[str, Any]:
        answer = self.api.post(f"/packs/{pack}/entries", {"template_id": item})
        assert answer.status_code == 201, answer.content
        return dict(answer.json()["data"])

    def names(self, pack: str) -> list[str]:
        return [entry["name"] for entry in self.read(pack)["entries"]]


def an_automation(
    workspace: Workspace,
    *,
    name: str = "Their automation",
    flow: Flow | None = None,
    platform: str = "whatsapp",
    published: bool = True,
) -> Automation:
    automation = create_automation(
        workspace=workspace, name=name, platform=platform, flow=flow or a_flow(), now=now(), by=SYSTEM
    )
    return publish_automation(automation=automation, now=now(), by=SYSTEM) if published else automation


def put_behind(automation: Automation, *, text: str = "An older text.") -> None:
    """Let an installed automation come from an older version, whose first text was another."""
    older = copy.deepcopy(automation.draft)
    next(step for step in older["steps"] if "text" in step["config"])["config"]["text"] = text
    Automation.objects.filter(pk=automation.pk).update(draft=older)
    InstalledFlow.objects.filter(automation=automation).update(flow=older, digest="0" * 64)


def wide(text: str) -> str:
    """The same letters and digits as East Asian typewriters wrote them."""
    return "".join(chr(ord(character) + 0xFEE0) if character.isalnum() else character for character in text)


def errors(answer: Any) -> dict[str, list[str]]:
    """The refused fields of a 422."""
    assert answer.status_code == 422, (answer.status_code, answer.content)
    return dict(answer.json()["errors"])
