"""Changes of the services that a workspace offers."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, TypedDict, Unpack

from django.db import connection, transaction

from agency.actors import Actor
from agency.services.activity import from_differences
from config.errors import Conflict, Forbidden, InvalidInput, NotFound
from config.hooks import Registry
from workspaces.catalogue import events
from workspaces.catalogue.models import Service, ServiceCategory
from workspaces.catalogue.services.categories import hold_category
from workspaces.catalogue.services.names import require_room_for_one, save_named
from workspaces.catalogue.services.prices import check_price
from workspaces.catalogue.services.recording import record_catalogue_activity
from workspaces.subaccounts.events import differences
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import record_workspace_event

MOST_SERVICES = 1_000
NAME_ONCE = "service_name_once_per_workspace"
HOLD = "SELECT 1 FROM catalogue_service WHERE id = %s AND deleted_at IS NULL FOR SHARE"


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


class ServiceChanges(TypedDict, total=False):
    """The fields of a service that can change. Fields left out stay."""

    name: str
    kind: str
    category: ServiceCategory | None
    duration_minutes: int | None
    price: Decimal | None


def hold_service(service: Service) -> None:
    """Lock a service against changes and deletion until the transaction ends. Raises `ServiceNotFound`."""
    with connection.cursor() as cursor:
        cursor.execute(HOLD, [service.pk])
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
) -> Service:
    """Add a service. Raises `PriceRefused`, `ServiceCategoryNotFound`, `ServiceLimitReached`, `ServiceNameTaken`."""
    check_price(price, workspace)
    require_room_for_one(workspace, Service.objects.of(workspace), most=MOST_SERVICES, full=ServiceLimitReached)
    hold_category(category)
    service = Service(
        workspace=workspace,
        name=name.strip(),
        kind=kind,
        category=category,
        duration_minutes=duration_minutes,
        price=price,
        created_at=now,
        updated_at=now,
    )
    save_named(service, once=NAME_ONCE, taken=ServiceNameTaken)
    record_catalogue_activity(workspace=workspace, entry=service, what="created", by=by)
    record_workspace_event(workspace=workspace, name=events.SERVICE_CREATED, now=now, service=service)
    return service


@transaction.atomic
def change_service(*, service: Service, now: datetime, by: Actor, **changes: Unpack[ServiceChanges]) -> Service:
    """Change a service. Fields left out stay.

    Raises `PriceRefused`, `ServiceCategoryNotFound`, `ServiceInUse` for another kind, `ServiceNameTaken`,
    `ServiceNotFound`.
    """
    workspace = service.workspace
    service = _lock(service)
    hold_category(changes.get("category"))
    if "name" in changes:
        changes["name"] = changes["name"].strip()
    if changes.get("kind", service.kind) != service.kind:
        _require_unplanned(service)
    before, values = _as_read(service), dict(changes)
    changed = {field: value for field, value in values.items() if getattr(service, field) != value}
    check_price(changes.get("price") if "price" in changed else None, workspace)
    if changed:
        for field, value in changed.items():
            setattr(service, field, value)
        service.updated_at = now
        save_named(service, once=NAME_ONCE, taken=ServiceNameTaken, update_fields=[*changed, "updated_at"])
        made = differences(before, _as_read(service))
        record_catalogue_activity(
            workspace=workspace, entry=service, what="changed", by=by, changes=from_differences(made)
        )
        record_workspace_event(workspace=workspace, name=events.SERVICE_UPDATED, now=now, service=service, changes=made)
    return service


@transaction.atomic
def delete_service(*, service: Service, now: datetime, by: Actor) -> None:
    """Delete a service. Past classes still name it. Raises `ServiceInUse`, `ServiceNotFound`."""
    workspace = service.workspace
    service = _lock(service)
    _require_unplanned(service)
    record_workspace_event(workspace=workspace, name=events.SERVICE_DELETED, now=now, service=service)
    record_catalogue_activity(workspace=workspace, entry=service, what="deleted", by=by)
    service.category, service.deleted_at = None, now
    service.save(update_fields=["category", "deleted_at"])


def _lock(service: Service) -> Service:
    """Lock the row and read it anew. Raises `ServiceNotFound` if it was deleted meanwhile."""
    found = Service.objects.select_for_update(no_key=True).filter(pk=service.pk, deleted_at=None).first()
    if found is None:
        raise ServiceNotFound
    return found


def _require_unplanned(service: Service) -> None:
    for use in service_uses:
        if use.is_planned(service):
            raise ServiceInUse(use.message)


def _as_read(service: Service) -> dict[str, Any]:
    """Give the fields of a service that can change, as JSON types, as the API reads them."""
    return {
        "name": service.name,
        "kind": service.kind,
        "category_id": str(service.category_uuid) if service.category else None,
        "duration_minutes": service.duration_minutes,
        "price": None if service.price is None else float(service.price),
    }
