"""An agency for tests of the API: with keys, a customer, a plan, and a client of each surface."""

import json
import secrets
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID

from django.http import HttpResponse
from django.test import Client
from django.test.client import ClientHandler
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import Addon, Agency, AgencyKey, Event, Plan
from packs.models import Pack, PackEntry
from packs.services import add_library_entry, create_pack
from tests.factories import (
    AddonFactory,
    AgencyFactory,
    ChannelFactory,
    ContactFactory,
    EndpointFactory,
    PlanFactory,
    SegmentFactory,
    WorkspaceFactory,
    a_workspace_key,
    an_agency_key,
)
from tests.factories.flows import a_flow
from webhooks.models import Endpoint
from workspaces.automations.models import Automation
from workspaces.automations.services import create_automation, publish_automation
from workspaces.contacts.models import Contact, Segment
from workspaces.subaccounts.models import Channel, Workspace

AGENCY_BASE = "/api/agency/v1"
WORKSPACE_BASE = "/api/v1"
NOTHING = object()
Made = TypeVar("Made")
# One handler for all clients, because each new one would walk through all static files again.
HANDLER = ClientHandler(enforce_csrf_checks=False)


def an_address() -> str:
    """Give a new address for each caller, so that tests share no counter."""
    return f"2001:db8:{secrets.randbits(16):x}:{secrets.randbits(16):x}::1"


class Multipart(bytes):
    """A body of multipart/form-data with one file."""

    kind = "multipart/form-data; boundary=border"

    @classmethod
    def of(cls, content: bytes, filename: str = "bill.pdf", field: str = "file") -> "Multipart":
        head = f'--border\r\nContent-Disposition: form-data; name="{field}"; filename="{filename}"\r\n\r\n'
        return cls(head.encode() + content + b"\r\n--border--\r\n")


class Api:
    """Calls a surface; without a key the caller is anonymous."""

    def __init__(self, base: str = AGENCY_BASE, key: str | None = None, address: str | None = None) -> None:
        self.base, self.key, self.address = base, key, address or an_address()

    def call(self, method: str, path: str, body: Any = NOTHING, **headers: str) -> Any:
        """Send JSON and give Django's response; write header names with underscores."""
        content = b"" if body is NOTHING else body if isinstance(body, bytes) else json.dumps(body).encode()
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.key is not None:
            given.setdefault("x-api-key", self.key)
        client = Client(REMOTE_ADDR=self.address)
        client.handler = HANDLER
        kind = body.kind if isinstance(body, Multipart) else "application/json" if content else ""
        address = path if path.startswith(("/api/", "http://")) else f"{self.base}{path}"
        return client.generic(method, address, content, kind, headers=given)

    def get(self, path: str, **headers: str) -> Any:
        return self.call("GET", path, **headers)

    def post(self, path: str, body: Any = NOTHING, **headers: str) -> Any:
        return self.call("POST", path, body, **headers)

    def put(self, path: str, body: Any = NOTHING, **headers: str) -> Any:
        return self.call("PUT", path, body, **headers)

    def patch(self, path: str, body: Any = NOTHING, **headers: str) -> Any:
        return self.call("PATCH", path, body, **headers)

    def delete(self, path: str, **headers: str) -> Any:
        return self.call("DELETE", path, **headers)

    def with_key(self, key: str | None) -> "Api":
        """Give a client of the same surface and address with another key."""
        return Api(self.base, key, self.address)


class made_once(cached_property[Made]):  # noqa: N801  # a decorator
    """A cached property that is made once, even if many threads read it at the same time."""

    _making = RLock()

    if not TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            with self._making:
                return super().__get__(instance, owner)


class Tenant:
    """An agency and one of everything that it owns, made on first use. All of its texts contain `mark`."""

    def __init__(self, **options: Any) -> None:
        self.mark = f"mark-{secrets.token_hex(6)}"
        self.agency: Agency = AgencyFactory.create(name=f"Agency {self.mark}", **options)
        self.key: AgencyKey
        self.key, self.plaintext = an_agency_key(self.agency, name=f"Key {self.mark}")
        self.api = Api(AGENCY_BASE, self.plaintext)
        self.ids: dict[str, UUID] = {}  # the ids that `tests.routes.ids_of` has made

    @made_once
    def plan(self) -> Plan:
        return PlanFactory.create(agency=self.agency, name=f"Plan {self.mark}")

    @made_once
    def addon(self) -> Addon:
        return AddonFactory.create(agency=self.agency, name=f"Add-on {self.mark}")

    @made_once
    def workspace(self) -> Workspace:
        return WorkspaceFactory.create(
            agency=self.agency, name=f"Customer {self.mark}", owner_email=f"{self.mark}@example.com", plan=self.plan
        )

    @made_once
    def channel(self) -> Channel:
        return ChannelFactory.create(workspace=self.workspace, name=f"Number {self.mark}")

    @made_once
    def endpoint(self) -> Endpoint:
        return EndpointFactory.create(agency=self.agency, url=f"https://93.184.215.14/{self.mark}")

    @made_once
    def pack(self) -> Pack:
        return create_pack(agency=self.agency, name=f"Pack {self.mark}", by=SYSTEM)

    @made_once
    def entry(self) -> PackEntry:
        return add_library_entry(pack=self.pack, template_id="salons-booking-assistant", by=SYSTEM)

    @made_once
    def contact(self) -> Contact:
        return ContactFactory.create(workspace=self.workspace, name=f"Contact {self.mark}", phone="+4930123456")

    @made_once
    def other_contact(self) -> Contact:
        return ContactFactory.create(workspace=self.workspace, name=f"Other contact {self.mark}")

    @made_once
    def segment(self) -> Segment:
        return SegmentFactory.create(workspace=self.workspace, name=f"Segment {self.mark}")

    @made_once
    def automation(self) -> Automation:
        """A published automation that can be copied."""
        made = create_automation(
            workspace=self.workspace, name=f"Flow {self.mark}", platform="whatsapp", flow=a_flow(), now=now(), by=SYSTEM
        )
        return publish_automation(automation=made, now=now(), by=SYSTEM)

    @made_once
    def copying_api(self) -> Api:
        """A client of the agency surface, with a key that may copy automations."""
        return Api(AGENCY_BASE, an_agency_key(self.agency, name="Copies", can_copy=True)[1])

    @made_once
    def key_making_api(self) -> Api:
        """A client of the agency surface, with a key that may make sub-accounts' keys."""
        return Api(AGENCY_BASE, an_agency_key(self.agency, name="Makes keys", can_make_keys=True)[1])

    @made_once
    def workspace_plaintext(self) -> str:
        return a_workspace_key(self.workspace)[1]

    @made_once
    def workspace_api(self) -> Api:
        return Api(WORKSPACE_BASE, self.workspace_plaintext)

    @property
    def path(self) -> str:
        """The path of the sub-account."""
        return f"/workspaces/{self.workspace.uuid}"

    @property
    def events(self) -> list[dict[str, Any]]:
        """The envelopes of the agency's events, oldest first."""
        bodies = Event.objects.filter(agency=self.agency).order_by("id").values_list("body", flat=True)
        return [json.loads(bytes(body)) for body in bodies]

    def event_names(self) -> list[str]:
        return [event["event"] for event in self.events]


def a_new_customer(**changes: Any) -> dict[str, Any]:
    """Give a body for `POST /workspaces` with a new owner."""
    owner = {"name": "Ada Lovelace", "email": f"ada-{secrets.token_hex(6)}@example.com"}
    return {"name": "Corner Salon", "owner": owner} | changes


def message(response: HttpResponse) -> str:
    return str(json.loads(response.content)["message"])
