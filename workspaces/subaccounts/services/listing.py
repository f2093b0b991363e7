"""Pages of an agency's sub-accounts, newest first, in statements that their indexes answer."""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import connection

from agency.models import Agency
from config.db import like_pattern, name_key

CARD = """
SELECT workspace.uuid, workspace.name, workspace.status, plan.uuid, plan.name, workspace.owner_name,
    workspace.owner_email, workspace.business_type, workspace.timezone, workspace.created_at, workspace.suspended_at
FROM ({page}) page
JOIN subaccounts_workspace workspace ON workspace.id = page.id
LEFT JOIN agency_plan plan ON plan.id = workspace.plan_id
ORDER BY workspace.created_at DESC, workspace.id DESC
"""
PAGE = """
SELECT id FROM subaccounts_workspace workspace WHERE {where} ORDER BY created_at {way}, id {way} LIMIT %s OFFSET %s
"""
# Few hits of a search are fetched by its index and sorted. Without the fence the planner would walk past all the
# newer sub-accounts until it has met enough of them.
PAGE_OF_FEW = (
    "SELECT id FROM (SELECT id, created_at FROM subaccounts_workspace workspace WHERE {where} OFFSET 0) hit "
    "ORDER BY created_at {way}, id {way} LIMIT %s OFFSET %s"
)
FEW = 2_000
COUNT = "SELECT count(*) FROM subaccounts_workspace workspace WHERE {where}"


@dataclass(slots=True)
class Selection:
    """Which sub-accounts to list; an unset filter keeps all. `nothing` stands for a value that matches none."""

    agency: Agency
    search: str | None = None
    status: str | None = None
    plan: UUID | None = None
    business_type: str | None = None
    nothing: bool = False
    _where: list[str] = field(default_factory=list)
    _values: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._add("agency_id = %s", self.agency.pk)
        if self.search:
            self._add("name_key LIKE %s", like_pattern(name_key(self.search)))
        if self.status is not None:
            self._add("status = %s", self.status)
        if self.plan is not None:
            self._add("plan_id = (SELECT id FROM agency_plan WHERE uuid = %s)", self.plan)
        if self.business_type is not None:
            self._add("business_type = %s", self.business_type)

    def _add(self, condition: str, value: Any) -> None:
        self._where.append(condition)
        self._values.append(value)

    @property
    def is_everything(self) -> bool:
        return len(self._where) == 1 and not self.nothing

    def count(self) -> int:
        """How many there are; of all of them the agency itself keeps the number."""
        if self.nothing:
            return 0
        if self.is_everything:
            return self.agency.sub_account_count
        with connection.cursor() as cursor:
            cursor.execute(COUNT.format(where=" AND ".join(self._where)), self._values)
            return int(cursor.fetchone()[0])

    def cards(self, *, offset: int, limit: int, total: int) -> list[dict[str, Any]]:
        """The cards from `offset` on; those past the middle are reached from the other end."""
        limit = min(limit, total - offset)
        if limit <= 0:
            return []
        from_the_end = offset > total // 2
        skipped = total - offset - limit if from_the_end else offset
        way = "ASC" if from_the_end else "DESC"
        page = PAGE_OF_FEW if self.search and total <= FEW else PAGE
        statement = CARD.format(page=page.format(where=" AND ".join(self._where), way=way))
        with connection.cursor() as cursor:
            cursor.execute(statement, [*self._values, limit, skipped])
            return [card_of_row(row) for row in cursor.fetchall()]


def card_of_row(row: tuple[Any, ...]) -> dict[str, Any]:
    """The sub-account's card, in the order of `CARD`'s columns."""
    uuid, name, status, plan_uuid, plan_name, owner_name, owner_email, business, zone, created_at, suspended_at = row
    return {
        "uuid": uuid,
        "name": name,
        "status": status,
        "plan": {"uuid": plan_uuid, "name": plan_name} if plan_uuid else None,
        "owner": {"name": owner_name, "email": owner_email},
        "business_type": business,
        "timezone": zone,
        "created_at": created_at,
        "suspended_at": suspended_at,
    }
