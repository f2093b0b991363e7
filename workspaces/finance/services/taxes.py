"""Tax rates of a workspace. A rate that an invoice has used keeps its percentage."""

from datetime import datetime
from decimal import Decimal
from typing import Final, TypedDict, Unpack

from django.db import transaction

from agency.actors import Actor
from agency.services.activity import changes_to
from config.errors import Conflict, Forbidden, InvalidInput, NotFound
from workspaces.catalogue.services.services import check_row_limit, save_with_unique_name
from workspaces.finance.models import TaxRate
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import record_workspace_activity

MOST_TAX_RATES: Final = 200
UNIQUE_NAME: Final = "tax_rate_name_once_per_workspace"


class TaxRateNotFound(NotFound):
    message = "Tax rate not found."


class TaxRateLimitReached(Forbidden):
    message = f"A workspace may have at most {MOST_TAX_RATES} tax rates."


class TaxRateNameTaken(InvalidInput):
    field = "name"
    message = "Another tax rate has this name."


class TaxRateInUse(Conflict):
    message = "Invoices have used this tax rate, so only its name can change. Archive it and create another one."


class TaxRateChanges(TypedDict, total=False):
    """The fields of a tax rate that can change. Fields left out stay."""

    name: str
    percent: Decimal
    inclusive: bool
    archived: bool


def tax_rates_to_choose(workspace: Workspace) -> list[TaxRate]:
    """Return the rates that are not archived, by name."""
    return list(TaxRate.objects.of(workspace).in_use().order_by("name_key", "id")[:MOST_TAX_RATES])


@transaction.atomic
def create_tax_rate(
    *, workspace: Workspace, name: str, percent: Decimal, now: datetime, by: Actor, inclusive: bool = False
) -> TaxRate:
    """Add a tax rate. Raises `TaxRateLimitReached`, `TaxRateNameTaken`."""
    _check_limit(workspace)
    rate = TaxRate(workspace=workspace, name=name.strip(), percent=percent, inclusive=inclusive, created_at=now)
    save_with_unique_name(rate, once=UNIQUE_NAME, taken=TaxRateNameTaken)
    _record(rate, "created", by)
    return rate


@transaction.atomic
def change_tax_rate(*, tax_rate: TaxRate, now: datetime, by: Actor, **changes: Unpack[TaxRateChanges]) -> TaxRate:
    """Change a tax rate, archive it, or take it back. Invoices keep their copies.

    Raises `TaxRateInUse`, `TaxRateNameTaken`, `TaxRateLimitReached`, `TaxRateNotFound`.
    """
    if changes.get("archived") is False:
        _check_limit(tax_rate.workspace, but=tax_rate)
    rate = _lock(tax_rate)
    archived = changes.pop("archived", rate.is_archived)
    if "name" in changes:
        changes["name"] = changes["name"].strip()
    made = {name: pair for name, pair in changes_to(rate, changes).items() if pair[0] != pair[1]}
    if made.keys() & {"percent", "inclusive"} and rate.lines.exists():
        raise TaxRateInUse
    if archived != rate.is_archived:
        made["archived"] = (rate.is_archived, archived)
        rate.archived_at = now if archived else None
    for name in made.keys() - {"archived"}:
        setattr(rate, name, made[name][1])
    if made:
        fields = ["name", "percent", "inclusive", "archived_at"]
        save_with_unique_name(rate, once=UNIQUE_NAME, taken=TaxRateNameTaken, update_fields=fields)
        _record(rate, "changed", by, made)
    return rate


def _check_limit(workspace: Workspace, but: TaxRate | None = None) -> None:
    rows = TaxRate.objects.of(workspace).in_use().exclude(pk__in=[but.pk] if but else [])
    check_row_limit(workspace, rows, most=MOST_TAX_RATES, full=TaxRateLimitReached)


def _lock(rate: TaxRate) -> TaxRate:
    """Lock the row against new lines too, and read it anew. Raises `TaxRateNotFound`."""
    found = TaxRate.objects.select_for_update(of=("self",)).select_related("workspace").filter(pk=rate.pk).first()
    if found is None:
        raise TaxRateNotFound
    return found


def _record(rate: TaxRate, what: str, by: Actor, changes: dict[str, tuple[object, object]] | None = None) -> None:
    record_workspace_activity(
        workspace=rate.workspace,
        action=f"tax_rate.{what}",
        by=by,
        details={"tax_rate": str(rate.uuid), "name": rate.name},
        changes=changes,
    )
