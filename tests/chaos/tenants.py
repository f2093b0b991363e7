"""The agencies of a scenario, with keys, plans and endpoints, and the clients that act for them."""

import random
import threading
import uuid
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from agency.actors import SYSTEM
from agency.limits import unlimited
from agency.models import Agency, Event
from agency.services import create_agency, create_plan, issue_agency_key
from agency.tenants import Tenant
from tests.chaos.clients.calls import Api, CallLog
from tests.chaos.clients.client import CREATED, EVENTS, RESTORED, Client
from tests.chaos.expectations import Expectations, Subscriber
from tests.chaos.receiver.checks import BULK
from webhooks.models import Endpoint
from webhooks.services.endpoints import new_secret
from workspaces.subaccounts.services import create_workspace

# The endpoints of each agency: all events at one, some of them at another, as most agencies have it.
Subscriptions = tuple[tuple[str, ...], ...]
SUBSCRIPTIONS: Subscriptions = (EVENTS, (CREATED, RESTORED))
BULK_ENDPOINTS = 4


@dataclass
class Subscribed:
    """An agency at work: its API, and whom bulk events may be recorded for, with their subscribers."""

    agency: Agency
    api: Api
    plans: tuple[str, str]
    bulk: list[tuple[Tenant, Subscriber]]


class Tenants:
    """Makes agencies; endpoints that get business events are registered over the API."""

    def __init__(self, *, web: int, receiver: int, expectations: Expectations, log: CallLog) -> None:
        self.web, self.receiver = web, receiver
        self.expectations = expectations
        self.log = log
        self.agencies: list[Subscribed] = []
        self.mark = uuid.uuid4().hex[:8]
        self._numbers = 0

    def add(
        self, subscriptions: tuple[tuple[str, ...], ...] = SUBSCRIPTIONS, *, bulk: int = BULK_ENDPOINTS
    ) -> Subscribed:
        """Make an agency, and a workspace of its own with an endpoint."""
        agency = create_agency(name=f"Agency {self.mark} {len(self.agencies)}", by=SYSTEM)
        _, key = issue_agency_key(agency=agency, name="Integration", can_copy=False, by=SYSTEM)
        plans = [create_plan(agency=agency, name=name, limits=unlimited(), by=SYSTEM) for name in ("Starter", "Growth")]
        made = Subscribed(agency, Api(self.web, key, self.log), (str(plans[0].uuid), str(plans[1].uuid)), [])
        for events in subscriptions:
            self.register(made, events)
        if bulk:
            made.bulk = [self._bulk_endpoint(Tenant(agency.pk), number) for number in range(bulk)]
            made.bulk.append(self._bulk_endpoint(self._workspace(agency), bulk))
        self.agencies.append(made)
        return made

    def register(self, made: Subscribed, events: tuple[str, ...]) -> Subscriber:
        """Register an endpoint over the API, asking again until the web process is there."""
        path = self._path()
        url = f"http://127.0.0.1:{self.receiver}{path}"
        status, found, content = made.api.call("POST", "/webhooks", {"url": url, "events": list(events)})
        if status != 201:
            raise RuntimeError(f"an endpoint was not registered: {status} {content!r}")
        owner = ("agency_id", made.agency.pk)
        subscriber = Subscriber(self._numbers, path, found["secret"], frozenset(events), owner, found["uuid"])
        self.expectations.subscribe(subscriber)
        return subscriber

    def clients(
        self, made: Subscribed, count: int, rate: float, rng: random.Random, stop: threading.Event
    ) -> list[Client]:
        """Give clients of an agency, each with a connection of its own."""
        return [
            Client(
                api=Api(self.web, made.api.key, self.log),
                agency=made.agency.pk,
                plans=made.plans,
                owner=f"{self.mark}-{made.agency.pk}-{number}",
                expectations=self.expectations,
                stopping=stop,
                rng=random.Random(rng.random()),
                rate=rate,
            )
            for number in range(count)
        ]

    def _path(self) -> str:
        self._numbers += 1
        return f"/{self.mark}/{self._numbers}"

    def _workspace(self, agency: Agency) -> Tenant:
        owner = f"{self.mark}-{agency.pk}@example.com"
        with transaction.atomic():
            made = create_workspace(
                agency=agency, name="Own", owner_name="Owner", owner_email=owner, now=timezone.now(), by=SYSTEM
            )
            Event.objects.filter(agency=agency).delete()  # nobody was told of it
        return Tenant(agency.pk, made.pk, made.uuid)

    def _bulk_endpoint(self, tenant: Tenant, number: int) -> tuple[Tenant, Subscriber]:
        path, event = self._path(), f"{BULK}{number}"
        endpoint = Endpoint.objects.create(
            agency_id=tenant.agency_id,
            workspace_id=tenant.workspace_id,
            workspace_uuid=tenant.workspace_uuid,
            url=f"http://127.0.0.1:{self.receiver}{path}",
            events=[event],
            secret=new_secret(),
        )
        owner: tuple[str, int | str] = ("agency_id", tenant.agency_id)
        if tenant.workspace_uuid is not None:
            owner = ("workspace_id", str(tenant.workspace_uuid))
        assert endpoint.secret
        subscriber = Subscriber(self._numbers, path, endpoint.secret, frozenset([event]), owner)
        self.expectations.subscribe(subscriber)
        return tenant, subscriber
