"""One change, made on a page and by a call, and what either leaves behind."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, get_args

from django.test import Client
from django.urls import resolve, reverse

from agency.event_types import declared_events
from agency.models import ActivityEntry, Event
from agency.pages.forms import ConfirmationForm, new_nonce
from tests.agency.console.browsers import a_browser
from tests.factories import MemberFactory
from tests.routes import AGENCY, WORKSPACE, api_of, ids_of
from tests.routes import address as address_of
from tests.same_changes.forms import submit
from tests.tenants import NOTHING, Tenant
from webhooks.models import Endpoint

# What tells two tenants, two moments and two callers apart.
OWN = (
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "uuid"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)"), "time"),
    (re.compile(r"\+49\d+"), "phone"),
    (re.compile(r"/pay/[\w-]{32}"), "/pay/token"),
    (re.compile(r"Owner \d+"), "owner"),
    (re.compile(r"Staff member \d+"), "staff member"),
    (re.compile(r"(?<=/book/manage/)[\w-]+"), "token"),
    (re.compile(r'"author": {[^}]*}'), '"author": "caller"'),
)
Prepare = Callable[[Tenant], dict[str, Any] | None]
Values = Callable[[Tenant], dict[str, Any]]


def nothing(_: Tenant) -> None:
    return None


@dataclass(frozen=True, kw_only=True)
class Change:
    """`call` is the API's operation, `ids` what the page's address names, as `tests.routes.ids_of` calls it.

    `prepare` is done for either tenant before, and may give ids of its own. `fields` are those of the form that differ
    from what stands in it, `body` what the call sends. `rows` is what else is compared, where no event says it.
    """

    call: str
    ids: tuple[str, ...] = ()
    fields: Values = lambda _: {}
    body: Values | None = None
    prepare: Prepare = nothing
    rows: Callable[[Tenant], Any] = nothing


@dataclass
class Place:
    """A tenant, of whom everything is there that the change may name."""

    tenant: Tenant
    ids: dict[str, Any]
    events: int
    entries: int
    browser: Client = field(default_factory=Client)

    @classmethod
    def of(cls, tenant: Tenant, prepare: Prepare) -> "Place":
        ids: dict[str, Any] = ids_of(tenant)
        ids |= prepare(tenant) or {}
        _subscribe(tenant)
        return cls(tenant, ids, _newest(Event), _newest(ActivityEntry))

    def post(self, name: str, change: Change) -> Any:
        """Make the change on the page, as somebody who may."""
        tenant = self.tenant
        is_console = name.startswith("console:")
        user = MemberFactory.create(agency=tenant.agency, role="owner").user if is_console else tenant.workspace.owner
        self.entries = _newest(ActivityEntry)
        self.browser = a_browser(user)
        path = reverse(name, args=[self.ids[one] for one in change.ids])
        fields = {"nonce": new_nonce(user.pk), **change.fields(tenant)}
        return submit(self.browser, path, **fields) if has_fields(path) else self.browser.post(path, fields)

    def shown(self, answer: Any) -> Any:
        """Give the page that is shown after an answer."""
        return self.browser.get(answer["Location"]) if answer.status_code == 302 else answer

    def call(self, change: Change) -> Any:
        """Make the change by a call."""
        method, _, route = change.call.partition(" ")
        body = change.body(self.tenant) if change.body else NOTHING
        return api_of(route, self.tenant).call(method, address_of(route, self.ids), body)

    def left_behind(self) -> dict[str, Any]:
        """Give events with their data and entries of the activity log, without what is each tenant's own."""
        agency = self.tenant.agency
        events = Event.objects.filter(agency=agency, pk__gt=self.events).order_by("pk")
        entries = ActivityEntry.objects.filter(agency=agency, pk__gt=self.entries).order_by("pk")
        return {
            "events": [(one.name, self._plain(json.loads(bytes(one.body))["data"])) for one in events],
            "activity": [
                (one.action, one.target_kind, self._plain(one.details), self._plain(one.changes)) for one in entries
            ],
        }

    def _plain(self, value: Any) -> str:
        text = json.dumps(value, sort_keys=True, default=str).replace(self.tenant.mark, "mark")
        for own, said in OWN:
            text = own.sub(said, text)
        return text


def has_fields(path: str) -> bool:
    """Say whether a page shows a form with fields. A button has no page, and a confirmation asks nothing."""
    view: Any = resolve(path).func
    bases = [base for one in view.view_class.__mro__ for base in getattr(one, "__orig_bases__", ())]
    return hasattr(view.view_class, "get") and not any(ConfirmationForm in get_args(base) for base in bases)


def _subscribe(tenant: Tenant) -> None:
    """Have its endpoints want every event, as what nobody wants is not recorded."""
    for endpoint in Endpoint.objects.filter(agency=tenant.agency):
        endpoint.events = [declared.name for declared in declared_events(endpoint.tenant.audience)]
        endpoint.save(update_fields=["events"])


def _newest(model: Any) -> int:
    return model.objects.order_by("-pk").values_list("pk", flat=True).first() or 0


def of_agency(call: str) -> str:
    """Give an operation of the agency's API in full."""
    method, _, route = call.partition(" ")
    return f"{method} {AGENCY}{route}"


def of_workspace(call: str) -> str:
    """Give an operation of the workspace's API in full."""
    method, _, route = call.partition(" ")
    return f"{method} {WORKSPACE}{route}"
