"""The export of sub-accounts to a file. Its columns are named like the fields of the API's answers."""

from typing import Any, Final

from django.utils.translation import gettext_lazy as _

from agency.services.bulk import Selection
from agency.services.exports import ExportSource, RowBatch
from workspaces.subaccounts.console import chosen

COLUMNS: Final = (
    "uuid",
    "name",
    "status",
    "plan",
    "owner_name",
    "owner_email",
    "business_type",
    "timezone",
    "external_id",
    "created_at",
    "suspended_at",
)


def _read(selection: Selection, cursor: Any, size: int) -> RowBatch:
    own = [column for column in COLUMNS if column != "plan"]
    rows = list(chosen.next_rows(selection, cursor, size).values(*own, "plan__name", "pk"))
    after = chosen.cursor_after([(row["created_at"], row["pk"]) for row in rows], size)
    return RowBatch([{**row, "plan": row["plan__name"]} for row in rows], after)


SUB_ACCOUNTS: Final = ExportSource(
    name="sub-accounts",
    label=_("Sub-accounts"),
    url_name="console:sub-accounts",
    columns=COLUMNS,
    read=_read,
    count=chosen.count,
)
