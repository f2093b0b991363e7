"""An agency's plans and add-ons. Editing one changes no sub-account until it is assigned again."""

from datetime import datetime
from typing import TypedDict, Unpack

from django.db import IntegrityError, transaction

from agency.actors import Actor
from agency.limits import Limits
from agency.models import Addon, Agency, Plan
from agency.services.activity import record_activity
from config.db import name_key
from config.errors import Invalid, NotFound


class PlanNotFound(NotFound):
    message = "Plan not found."


class AddonNotFound(NotFound):
    message = "Add-on not found."


class CatalogueNameTaken(Invalid):
    field = "name"
    message = "Another entry of the catalogue has this name."


class CatalogueChanges(TypedDict, total=False):
    """What can be changed of a plan or an add-on."""

    name: str
    description: str
    limits: Limits


EDITABLE = ("name", "name_key", "description", "limits")


def create_plan(*, agency: Agency, name: str, limits: Limits, by: Actor, description: str = "") -> Plan:
    """Add a plan to the agency's catalogue."""
    plan = Plan(agency=agency, name=name.strip(), description=description, limits=limits)
    _save(plan, action="plan.created", by=by)
    return plan


def create_addon(*, agency: Agency, name: str, limits: Limits, by: Actor, description: str = "") -> Addon:
    """Add an add-on to the agency's catalogue."""
    addon = Addon(agency=agency, name=name.strip(), description=description, limits=limits)
    _save(addon, action="addon.created", by=by)
    return addon


def update_item(*, item: Plan | Addon, by: Actor, **changes: Unpack[CatalogueChanges]) -> None:
    """Change a plan or an add-on."""
    for field, value in changes.items():
        setattr(item, field, value)
    _save(item, action=f"{_kind(item)}.changed", by=by)


@transaction.atomic
def archive_item(*, item: Plan | Addon, now: datetime, by: Actor) -> None:
    """Take a plan or an add-on out of the catalogue; sub-accounts that hold it keep it."""
    if type(item).objects.filter(pk=item.pk, archived_at=None).update(archived_at=now):
        _record(item, f"{_kind(item)}.archived", by)
    item.refresh_from_db()


@transaction.atomic
def _save(item: Plan | Addon, *, action: str, by: Actor) -> None:
    item.name_key = name_key(item.name)
    try:
        with transaction.atomic():
            # An archiving at the same moment stays: only what was edited is written.
            item.save(update_fields=None if item._state.adding else EDITABLE)
    except IntegrityError as error:
        raise CatalogueNameTaken from error
    _record(item, action, by)


def _kind(item: Plan | Addon) -> str:
    return "plan" if isinstance(item, Plan) else "addon"


def _record(item: Plan | Addon, action: str, by: Actor) -> None:
    record_activity(by=by, action=action, agency_id=item.agency_id, target=(_kind(item), item.uuid, item.name))
