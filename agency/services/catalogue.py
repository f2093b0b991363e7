"""An agency's plans and add-ons, and its settings for customers who sign up by themselves.

An edit of a plan or an add-on changes no sub-account until the item is assigned again.
"""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, Literal, TypedDict, TypeVar, Unpack

from django.db import IntegrityError, transaction

from agency import limits as limits_of_plans
from agency.actors import Actor
from agency.limits import Limits
from agency.models import Addon, Agency, Plan, SignUpSettings
from agency.models.people import LONGEST_LINK
from agency.services.activity import Changes, changes_to, limit_changes, record_activity
from config.db import name_key, violated_constraint
from config.errors import Conflict, Forbidden, InvalidInput, NotFound
from config.http.guard import URLRefused, check_without_lookup, parse_target

MOST_ITEMS = 200
Item = TypeVar("Item", bound=Plan | Addon)


class PlanNotFound(NotFound):
    message = "Plan not found."


class AddonNotFound(NotFound):
    message = "Add-on not found."


class PlanLimitReached(Forbidden):
    message = "The plan limit is reached."


class AddonLimitReached(Forbidden):
    message = "The add-on limit is reached."


class PlanIsDefault(Conflict):
    message = "New sub-accounts take this plan. Choose another default plan first."


class SignUpTakesPlan(Conflict):
    message = "New customers get this plan when they sign up. Choose another plan, or switch sign-up off first."


class CatalogueNameTaken(InvalidInput):
    field = "name"
    message = "Another entry of the catalogue has this name."


class CatalogueChanges(TypedDict, total=False):
    """The fields of a plan or an add-on that can be changed; limits that are not named stay."""

    name: str
    description: str
    limits: Mapping[str, object]


def default_plan_of(agency: Agency) -> Plan | None:
    """Return the plan that a new sub-account gets if none is named."""
    return Plan.objects.filter(agency=agency, is_default=True).first()


def create_plan(*, agency: Agency, name: str, limits: Limits, by: Actor, description: str = "") -> Plan:
    """Add a plan to the agency's catalogue. Raises `CatalogueNameTaken`, `PlanLimitReached`."""
    plan = Plan(agency=agency, name=name.strip(), description=description, limits=limits)
    return _add(plan, PlanLimitReached, by)


def create_addon(*, agency: Agency, name: str, limits: Limits, by: Actor, description: str = "") -> Addon:
    """Add an add-on to the agency's catalogue. Raises `CatalogueNameTaken`, `AddonLimitReached`."""
    addon = Addon(agency=agency, name=name.strip(), description=description, limits=limits)
    return _add(addon, AddonLimitReached, by)


@transaction.atomic
def update_item(*, item: Item, by: Actor, **changes: Unpack[CatalogueChanges]) -> Item:
    """Change a plan or an add-on that is not archived; fields that are not named stay.

    Raises `CatalogueNameTaken`, and `PlanNotFound` or `AddonNotFound` if it was archived meanwhile.
    """
    item = _lock(item)
    values: dict[str, object] = {**changes}
    if "name" in changes:
        values["name"] = changes["name"].strip()
    if "limits" in changes:
        values["limits"] = limits_of_plans.changed(item.limits, changes["limits"])
    changed = {field: value for field, value in values.items() if getattr(item, field) != value}
    if changed:
        changes_made = _changes_to(item, changed)
        for field, value in changed.items():
            setattr(item, field, value)
        _save(item, update_fields=[*changed, "name_key"])
        _record(item, "changed", by, changes_made)
    return item


@transaction.atomic
def archive_item(*, item: Plan | Addon, now: datetime, by: Actor) -> None:
    """Take a plan or an add-on out of the catalogue; sub-accounts that hold it keep it. Raises `PlanIsDefault`."""
    live = _live(item)
    if live is not None:
        if isinstance(live, Plan) and live.is_default:
            raise PlanIsDefault
        live.archived_at = now
        live.save(update_fields=["archived_at"])
        _record(live, "archived", by)
    item.refresh_from_db()


@transaction.atomic
def choose_default_plan(*, agency: Agency, plan: Plan | None, by: Actor) -> None:
    """Choose the plan that new sub-accounts get if none is named; None for no such plan.

    Raises `PlanNotFound`, and `SignUpTakesPlan` if customers could no longer sign up or add workspaces.
    """
    _lock_agency(agency)
    before, after = default_plan_of(agency), None if plan is None else _lock(plan)
    if before == after:
        return
    if after is None and SignUpSettings.objects.filter(agency=agency).taking_plans().exists():
        raise SignUpTakesPlan
    Plan.objects.filter(agency=agency, is_default=True).update(is_default=False)
    if after is not None:
        Plan.objects.filter(pk=after.pk).update(is_default=True)
    target = ("agency", agency.uuid, agency.name)
    changes = {"default_plan": (before.name if before else None, after.name if after else None)}
    record_activity(by=by, action="plan.default_chosen", agency_id=agency.pk, target=target, changes=changes)


@transaction.atomic
def _add(item: Item, full: type[Forbidden], by: Actor) -> Item:
    _lock_agency(item.agency)
    if type(item)._default_manager.filter(agency=item.agency, archived_at=None).count() >= MOST_ITEMS:
        raise full
    _save(item)
    _record(item, "created", by)
    return item


def _save(item: Plan | Addon, update_fields: list[str] | None = None) -> None:
    item.name_key = name_key(item.name)
    try:
        with transaction.atomic():
            item.save(update_fields=update_fields)
    except IntegrityError as error:
        if "name_once" not in violated_constraint(error):
            raise
        raise CatalogueNameTaken from error


def _lock_agency(agency: Agency) -> None:
    """Lock the agency, so that changes that look at all its items come one after another."""
    Agency.objects.select_for_update(no_key=True).only("pk").get(pk=agency.pk)


def _lock(item: Item) -> Item:
    """Re-read a live item under its lock. Raises `PlanNotFound` or `AddonNotFound`."""
    found = _live(item)
    if found is None:
        raise PlanNotFound if isinstance(item, Plan) else AddonNotFound
    return found


def _live(item: Item) -> Item | None:
    rows: Any = type(item)._default_manager.select_for_update(no_key=True)
    found: Item | None = rows.filter(pk=item.pk, archived_at=None).first()
    return found


def _kind(item: Plan | Addon) -> str:
    return "plan" if isinstance(item, Plan) else "addon"


def _changes_to(item: Plan | Addon, changed: Mapping[str, object]) -> Changes:
    changes = changes_to(item, changed)
    before, after = changes.pop("limits", (item.limits, item.limits))
    return {**changes, **limit_changes(before, after)}


def _record(item: Plan | Addon, what: str, by: Actor, changes: Changes | None = None) -> None:
    action, target = f"{_kind(item)}.{what}", (_kind(item), item.uuid, item.name)
    record_activity(by=by, action=action, agency_id=item.agency_id, target=target, changes=changes)


FRAGMENT = re.compile(r"[A-Za-z0-9!$%&'()*+,./:;=?@_~-]*", re.ASCII)
LINKS: Final[tuple[Literal["terms_url", "privacy_url"], ...]] = ("terms_url", "privacy_url")


class SignUpNeedsPlan(InvalidInput):
    field = "plan"
    message = "Choose the plan that new customers get."


class LinkRefused(InvalidInput):
    """The message says what is wrong with the address, and the field which address it is."""


class SignUpChanges(TypedDict, total=False):
    """What can be set besides the plan; what is not named stays."""

    is_on: bool
    allows_further_workspaces: bool
    terms_url: str
    privacy_url: str


def sign_up_settings_of(agency: Agency) -> SignUpSettings:
    """Return the agency's settings; if none were saved, everything is off."""
    return SignUpSettings.objects.filter(agency=agency).first() or SignUpSettings(agency=agency)


def open_sign_up_of(agency: Agency) -> SignUpSettings | None:
    """Return the settings of an agency if anybody may sign up there now, else None."""
    settings = sign_up_settings_of(agency)
    is_open = settings.is_on and agency.is_active and default_plan_of(agency) is not None
    return settings if is_open else None


@transaction.atomic
def change_sign_up(*, agency: Agency, plan: Plan | None, by: Actor, **changes: Unpack[SignUpChanges]) -> SignUpSettings:
    """Change the named settings, and make this plan the default of new sub-accounts.

    Raises `SignUpNeedsPlan`, `LinkRefused` and, for a plan that was archived meanwhile, `PlanNotFound`.
    """
    for field in LINKS:
        if field in changes:
            changes[field] = checked_link(changes[field], field=field)
    Agency.objects.select_for_update(no_key=True).only("pk").get(pk=agency.pk)
    settings = sign_up_settings_of(agency)
    made = {
        field: (getattr(settings, field), value)
        for field, value in changes.items()
        if getattr(settings, field) != value
    }
    for name, (_, value) in made.items():
        setattr(settings, name, value)
    if plan is None and (settings.is_on or settings.allows_further_workspaces):
        raise SignUpNeedsPlan
    if made:
        settings.save()
        target = ("sign_up", agency.uuid, agency.name)
        record_activity(by=by, action="sign_up.changed", agency_id=agency.pk, target=target, changes=made)
    choose_default_plan(agency=agency, plan=plan, by=by)
    return settings


def checked_link(text: str, *, field: str) -> str:
    """Return an address to which customers may be sent, in ASCII: https, and of a public host.

    Raises `LinkRefused`.
    """
    if not text.strip():
        return ""
    address, mark, fragment = text.strip().partition("#")
    try:
        target = parse_target(address)
        check_without_lookup(target)
    except URLRefused as refusal:
        raise LinkRefused(str(refusal), field=field) from refusal
    if target.scheme != "https":
        raise LinkRefused("The URL must start with https://.", field=field)
    link = f"{target.url}{mark}{fragment}"
    if len(link) > LONGEST_LINK or not FRAGMENT.fullmatch(fragment):
        raise LinkRefused(f"The URL must be one of at most {LONGEST_LINK} plain characters.", field=field)
    return link
