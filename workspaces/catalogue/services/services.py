"""Changes of services and categories; the rules for names, prices and numbers that products share."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Protocol, Unpack

from django.db import IntegrityError, connection, transaction
from django.db.models import Model, QuerySet

from agency.actors import Actor
from agency.services import record_activity
from agency.services.activity import Changes, from_differences
from config.db import name_key, violated_constraint
from config.errors import Conflict, Forbidden, InvalidInput, NotFound
from config.hooks import Registry
from workspaces.catalogue import events
from workspaces.catalogue.models import PRICE_DECIMALS, Product, Service, ServiceCategory
from workspaces.catalogue.services.appointment_settings import (
    AppointmentSettings,
    check_settings,
    default_settings,
    set_providers,
    settings_snapshot,
)
from workspaces.subaccounts.events import differences
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import lock_workspace, record_workspace_event
from workspaces.subaccounts.services.money import decimals_of

MOST_CHOICES = 50


def has_services(workspace: Workspace) -> bool:
    """Say whether the workspace offers a service or an active product."""
    offered = Service.objects.of(workspace).values("pk")
    sold = Product.objects.of(workspace).filter(active=True).values("pk")
    return offered[:1].union(sold[:1], all=True).exists()


def products_to_choose(*, workspace: Workspace, search: str = "", most: int = MOST_CHOICES) -> list[Product]:
    """Give active products by name. With `search`, give those that it finds."""
    rows = Product.objects.of(workspace).filter(active=True)
    rows = rows.matching(search) if search.strip() else rows
    return list(rows.order_by("name_key", "id")[:most])


def services_to_choose(
    *, workspace: Workspace, kind: str | None = None, search: str = "", most: int = MOST_CHOICES
) -> list[Service]:
    """Give services by name. With `kind`, give those of this kind; with `search`, those that it finds."""
    rows = Service.objects.of(workspace)
    rows = rows.filter(kind=kind) if kind else rows
    rows = rows.matching(search) if search.strip() else rows
    return list(rows.by_name()[:most])


class NamedRow(Protocol):
    """A row whose name is unique among others by its key."""

    name: str
    name_key: str

    def save(self, *, update_fields: list[str] | None = None) -> None: ...


def save_with_unique_name(
    row: NamedRow, *, once: str, taken: type[InvalidInput], update_fields: list[str] | None = None
) -> None:
    """Save a row with the key of its name. Raises `taken` if the constraint `once` finds the name in use."""
    row.name_key = name_key(row.name)
    fields = None if update_fields is None else [*update_fields, "name_key"]
    try:
        with transaction.atomic():
            row.save(update_fields=fields)
    except IntegrityError as error:
        if violated_constraint(error) != once:
            raise
        raise taken from error


def check_row_limit(workspace: Workspace, rows: "QuerySet[Model]", *, most: int, full: type[Forbidden]) -> None:
    """Raise `full` if there are `most` rows already. The workspace stays locked until the transaction ends."""
    lock_workspace(workspace)
    if rows.count() >= most:
        raise full


class PriceRefused(InvalidInput):
    field = "price"


def price_decimals(currency: str) -> int:
    """Give how many decimals a price in a currency may have, at most two."""
    return min(PRICE_DECIMALS, decimals_of(currency))


def check_price(price: Decimal | None, workspace: Workspace, *, field: str = "price") -> None:
    """Raise `PriceRefused` for an amount with more decimals than the workspace's currency has."""
    if price is None or price == int(price):
        return
    # The workspace of an API key's caller holds only some of its columns.
    currency = Workspace.objects.values_list("currency", flat=True).get(pk=workspace.pk)
    if round(price, price_decimals(currency)) != price:
        raise PriceRefused(f"The {field} field takes no decimals in {currency}.", field=field)


Entry = Product | Service | ServiceCategory
KINDS: dict[type[Entry], str] = {Product: "product", Service: "service", ServiceCategory: "service_category"}


def record_catalogue_activity(
    *, workspace: Workspace, entry: Entry, what: str, by: Actor, changes: Changes | None = None
) -> None:
    """Add an entry such as `product.changed` to the activity log of the agency and the sub-account."""
    kind = KINDS[type(entry)]
    record_activity(
        by=by,
        action=f"{kind}.{what}",
        agency_id=workspace.agency_id,
        workspace_uuid=workspace.uuid,
        target=(kind, entry.uuid, entry.name),
        changes=changes,
    )


MOST_CATEGORIES = 500
UNIQUE_CATEGORY_NAME = "service_category_name_once_per_workspace"
SHARE_LOCK_CATEGORY = "SELECT 1 FROM catalogue_servicecategory WHERE id = %s FOR KEY SHARE"


class ServiceCategoryNotFound(NotFound):
    message = "Service category not found."


class ServiceCategoryLimitReached(Forbidden):
    message = f"A workspace may have at most {MOST_CATEGORIES} service categories."


class ServiceCategoryNameTaken(InvalidInput):
    field = "name"
    message = "Another service category has this name."


class ServiceCategoryInUse(Conflict):
    message = "There are services or products in this category. Move them to another category first."


def share_lock_category(category: ServiceCategory | None) -> None:
    """Lock a category against deletion until the transaction ends. Raises `ServiceCategoryNotFound`."""
    if category is None:
        return
    with connection.cursor() as cursor:
        cursor.execute(SHARE_LOCK_CATEGORY, [category.pk])
        if cursor.fetchone() is None:
            raise ServiceCategoryNotFound


@transaction.atomic
def create_category(*, workspace: Workspace, name: str, now: datetime, by: Actor) -> ServiceCategory:
    """Add a category. Raises `ServiceCategoryLimitReached`, `ServiceCategoryNameTaken`."""
    rows = ServiceCategory.objects.of(workspace)
    check_row_limit(workspace, rows, most=MOST_CATEGORIES, full=ServiceCategoryLimitReached)
    category = ServiceCategory(workspace=workspace, name=name.strip(), created_at=now)
    save_with_unique_name(category, once=UNIQUE_CATEGORY_NAME, taken=ServiceCategoryNameTaken)
    record_catalogue_activity(workspace=workspace, entry=category, what="created", by=by)
    return category


@transaction.atomic
def rename_category(*, category: ServiceCategory, name: str, by: Actor) -> ServiceCategory:
    """Rename a category. Raises `ServiceCategoryNameTaken`, `ServiceCategoryNotFound`."""
    workspace = category.workspace
    category = _lock_category(category)
    before, category.name = category.name, name.strip()
    if before != category.name:
        save_with_unique_name(
            category, once=UNIQUE_CATEGORY_NAME, taken=ServiceCategoryNameTaken, update_fields=["name"]
        )
        changes = {"name": (before, category.name)}
        record_catalogue_activity(workspace=workspace, entry=category, what="changed", by=by, changes=changes)
    return category


@transaction.atomic
def delete_category(*, category: ServiceCategory, by: Actor) -> None:
    """Delete an empty category. Raises `ServiceCategoryInUse`, `ServiceCategoryNotFound`."""
    workspace = category.workspace
    category = _lock_category(category, for_deletion=True)
    if category.services.exists() or category.products.exists():
        raise ServiceCategoryInUse
    record_catalogue_activity(workspace=workspace, entry=category, what="deleted", by=by)
    category.delete()


def _lock_category(category: ServiceCategory, *, for_deletion: bool = False) -> ServiceCategory:
    found = ServiceCategory.objects.select_for_update(no_key=not for_deletion).filter(pk=category.pk).first()
    if found is None:
        raise ServiceCategoryNotFound
    return found


MOST_SERVICES = 1_000
UNIQUE_SERVICE_NAME = "service_name_once_per_workspace"
SHARE_LOCK_SERVICE = "SELECT 1 FROM catalogue_service WHERE id = %s AND deleted_at IS NULL FOR SHARE"


class ServiceNotFound(NotFound):
    message = "Service not found."


class ServiceLimitReached(Forbidden):
    message = f"A workspace may have at most {MOST_SERVICES:,} services."


class ServiceNameTaken(InvalidInput):
    field = "name"
    message = "Another service has this name."


class ServiceInUse(Conflict):
    """Something is planned with the service. The message says what."""


@dataclass(frozen=True, slots=True)
class ServiceUse:
    """A higher app's check for things planned with a service. While there are any, it keeps its kind and stays."""

    name: str
    is_planned: Callable[[Service], bool]
    message: str


service_uses = Registry[ServiceUse](
    "uses of services",
    called=(
        "`change_service`, for another kind, and `delete_service` call each in the order of the apps, under the "
        "service's lock, until one says yes"
    ),
    transaction="the caller's",
    failure="rolls the caller back",
)


class ServiceChanges(AppointmentSettings, total=False):
    """The fields of a service that can change. Fields left out stay."""

    name: str
    kind: str
    category: ServiceCategory | None
    duration_minutes: int | None
    price: Decimal | None


def share_lock_service(service: Service) -> None:
    """Lock a service against changes and deletion until the transaction ends. Raises `ServiceNotFound`."""
    with connection.cursor() as cursor:
        cursor.execute(SHARE_LOCK_SERVICE, [service.pk])
        if cursor.fetchone() is None:
            raise ServiceNotFound


@transaction.atomic
def create_service(
    *,
    workspace: Workspace,
    name: str,
    kind: str,
    now: datetime,
    by: Actor,
    category: ServiceCategory | None = None,
    duration_minutes: int | None = None,
    price: Decimal | None = None,
    **settings: Unpack[AppointmentSettings],
) -> Service:
    """Add a service. A class takes no settings of appointments.

    Raises `AppointmentSettingRefused`, `PriceRefused`, `ServiceCategoryNotFound`, `ServiceLimitReached`,
    `ServiceNameTaken`, `StaffNotFound`.
    """
    check_price(price, workspace)
    check_price(settings.get("deposit"), workspace, field="deposit")
    check_row_limit(workspace, Service.objects.of(workspace), most=MOST_SERVICES, full=ServiceLimitReached)
    share_lock_category(category)
    service = Service(
        workspace=workspace,
        name=name.strip(),
        kind=kind,
        category=category,
        duration_minutes=duration_minutes,
        price=price,
        created_at=now,
        updated_at=now,
        **{name: value for name, value in settings.items() if name != "staff"},
    )
    check_settings(service, settings)
    save_with_unique_name(service, once=UNIQUE_SERVICE_NAME, taken=ServiceNameTaken)
    set_providers(service, settings.get("staff", ()))
    record_catalogue_activity(workspace=workspace, entry=service, what="created", by=by)
    record_workspace_event(workspace=workspace, name=events.SERVICE_CREATED, now=now, service=service)
    return service


@transaction.atomic
def change_service(*, service: Service, now: datetime, by: Actor, **changes: Unpack[ServiceChanges]) -> Service:
    """Change a service. Fields left out stay. What becomes a class loses its settings of appointments.

    Raises `AppointmentSettingRefused`, `PriceRefused`, `ServiceCategoryNotFound`, `ServiceInUse` for another kind,
    `ServiceNameTaken`, `ServiceNotFound`, `StaffNotFound`.
    """
    workspace = service.workspace
    service = _lock_service(service)
    before = _service_snapshot(service)
    changed = _changed_values(service, changes)
    check_price(changed.get("price"), workspace)
    check_price(changed.get("deposit"), workspace, field="deposit")
    for field, value in changed.items():
        setattr(service, field, value)
    check_settings(service, changes)
    if "staff" in changes or "kind" in changed:
        set_providers(service, changes.get("staff", service.staff.all() if _is_appointment(service) else ()))
    made = differences(before, _service_snapshot(service))
    if made:
        service.updated_at = now
        save_with_unique_name(
            service, once=UNIQUE_SERVICE_NAME, taken=ServiceNameTaken, update_fields=[*changed, "updated_at"]
        )
        record_catalogue_activity(
            workspace=workspace, entry=service, what="changed", by=by, changes=from_differences(made)
        )
        record_workspace_event(workspace=workspace, name=events.SERVICE_UPDATED, now=now, service=service, changes=made)
    return service


def _changed_values(service: Service, changes: ServiceChanges) -> dict[str, Any]:
    """Give the columns that change. Raises `ServiceInUse`, `ServiceCategoryNotFound`."""
    share_lock_category(changes.get("category"))
    values = {name: value for name, value in changes.items() if name != "staff"}
    if "name" in changes:
        values["name"] = changes["name"].strip()
    if changes.get("kind", service.kind) != service.kind:
        _check_not_planned(service)
        if _is_appointment(service):
            values = {**default_settings(), **values}
    return {field: value for field, value in values.items() if getattr(service, field) != value}


def _is_appointment(service: Service) -> bool:
    return service.kind == Service.Kind.APPOINTMENT


@transaction.atomic
def delete_service(*, service: Service, now: datetime, by: Actor) -> None:
    """Delete a service. Past classes still name it. Raises `ServiceInUse`, `ServiceNotFound`."""
    workspace = service.workspace
    service = _lock_service(service)
    _check_not_planned(service)
    record_workspace_event(workspace=workspace, name=events.SERVICE_DELETED, now=now, service=service)
    record_catalogue_activity(workspace=workspace, entry=service, what="deleted", by=by)
    service.category, service.deleted_at = None, now
    service.save(update_fields=["category", "deleted_at"])


def _lock_service(service: Service) -> Service:
    """Lock the row and read it anew. Raises `ServiceNotFound` if it was deleted meanwhile."""
    found = Service.objects.select_for_update(no_key=True).filter(pk=service.pk, deleted_at=None).first()
    if found is None:
        raise ServiceNotFound
    return found


def _check_not_planned(service: Service) -> None:
    for use in service_uses:
        if use.is_planned(service):
            raise ServiceInUse(use.message)


def _service_snapshot(service: Service) -> dict[str, object]:
    """Give the fields of a service that can change, as JSON types, as the API reads them."""
    return {
        "name": service.name,
        "kind": service.kind,
        "category_id": str(service.category_uuid) if service.category else None,
        "duration_minutes": service.duration_minutes,
        "price": None if service.price is None else float(service.price),
        **settings_snapshot(service),
    }
