"""An operation that is called with all that it takes to go well, and what brings a status about."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tests.document.recording import documented_path, surface_of, validator_of
from tests.document.schemas import resolved
from tests.routes import AGENCY, Case, address, api_of, body_of, ids_of
from tests.tenants import Api, Tenant


@dataclass(frozen=True, slots=True)
class Call:
    """An operation with all that it takes to go well."""

    tenant: Tenant
    route: str
    method: str
    case: Case
    ids: dict[str, Any]
    body: Any

    @classmethod
    def of(cls, tenant: Tenant, route: str, method: str, case: Case) -> "Call":
        ids = ids_of(tenant)
        return cls(tenant, route, method, case, ids, body_of(case, tenant))

    @property
    def name(self) -> str:
        return f"{self.method} {self.route.removeprefix(AGENCY)}"

    @property
    def operation(self) -> dict[str, Any]:
        """What the document says of it."""
        path = documented_path(self.route)
        document = surface_of(path)
        assert document is not None
        return validator_of(document).operations[self.method, path]

    @property
    def fields(self) -> list[str]:
        """The fields of its body; none of them takes a number that is out of range."""
        document = surface_of(documented_path(self.route))
        if document is None or "requestBody" not in self.operation:
            return []
        content = self.operation["requestBody"]["content"].get("application/json")
        if content is None:
            return []
        schema = content["schema"]
        return list(resolved(schema, validator_of(document).document)["properties"])

    def takes(self, kind: str, name: str = "") -> bool:
        """Whether it has a documented parameter of this kind, and of this name where one is asked for."""
        return any(one["in"] == kind and name in ("", one["name"]) for one in self.operation.get("parameters", []))

    @property
    def api(self) -> Api:
        return api_of(self.route, self.tenant)

    @property
    def path(self) -> str:
        return address(self.route, self.ids)

    def send(self, body: Any = None, *, api: Api | None = None, path: str | None = None, **headers: str) -> int:
        sent = self.body if body is None else body
        response = (api or self.api).call(self.method, path or self.path, sent, **headers)
        return int(response.status_code)


Provocation = Callable[[Call], int | Iterator[int]]
