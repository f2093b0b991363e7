"""Changes of the categories of services and products."""

from datetime import datetime

from django.db import connection, transaction

from agency.actors import Actor
from config.errors import Conflict, Forbidden, InvalidInput, NotFound
from workspaces.catalogue.models import ServiceCategory
from workspaces.catalogue.services.names import require_room_for_one, save_named
from workspaces.catalogue.services.recording import record_catalogue_activity
from workspaces.subaccounts.models import Workspace

MOST_CATEGORIES = 500
NAME_ONCE = "service_category_name_once_per_workspace"
HOLD = "SELECT 1 FROM catalogue_servicecategory WHERE id = %s FOR KEY SHARE"


class ServiceCategoryNotFound(NotFound):
    message = "Service category not found."


class ServiceCategoryLimitReached(Forbidden):
    message = f"A workspace may have at most {MOST_CATEGORIES} service categories."


class ServiceCategoryNameTaken(InvalidInput):
    field = "name"
    message = "Another service category has this name."


class ServiceCategoryInUse(Conflict):
    message = "Services or products stand in this category. Move them to another one first."


def hold_category(category: ServiceCategory | None) -> None:
    """Lock a category against deletion until the transaction ends. Raises `ServiceCategoryNotFound`."""
    if category is None:
        return
    with connection.cursor() as cursor:
        cursor.execute(HOLD, [category.pk])
        if cursor.fetchone() is None:
            raise ServiceCategoryNotFound


@transaction.atomic
def create_category(*, workspace: Workspace, name: str, now: datetime, by: Actor) -> ServiceCategory:
    """Add a category. Raises `ServiceCategoryLimitReached`, `ServiceCategoryNameTaken`."""
    rows = ServiceCategory.objects.of(workspace)
    require_room_for_one(workspace, rows, most=MOST_CATEGORIES, full=ServiceCategoryLimitReached)
    category = ServiceCategory(workspace=workspace, name=name.strip(), created_at=now)
    save_named(category, once=NAME_ONCE, taken=ServiceCategoryNameTaken)
    record_catalogue_activity(workspace=workspace, entry=category, what="created", by=by)
    return category


@transaction.atomic
def rename_category(*, category: ServiceCategory, name: str, by: Actor) -> ServiceCategory:
    """Rename a category. Raises `ServiceCategoryNameTaken`, `ServiceCategoryNotFound`."""
    workspace = category.workspace
    category = _lock(category)
    before, category.name = category.name, name.strip()
    if before != category.name:
        save_named(category, once=NAME_ONCE, taken=ServiceCategoryNameTaken, update_fields=["name"])
        changes = {"name": (before, category.name)}
        record_catalogue_activity(workspace=workspace, entry=category, what="changed", by=by, changes=changes)
    return category


@transaction.atomic
def delete_category(*, category: ServiceCategory, by: Actor) -> None:
    """Delete an empty category. Raises `ServiceCategoryInUse`, `ServiceCategoryNotFound`."""
    workspace = category.workspace
    category = _lock(category, for_deletion=True)
    if category.services.exists() or category.products.exists():
        raise ServiceCategoryInUse
    record_catalogue_activity(workspace=workspace, entry=category, what="deleted", by=by)
    category.delete()


def _lock(category: ServiceCategory, *, for_deletion: bool = False) -> ServiceCategory:
    found = ServiceCategory.objects.select_for_update(no_key=not for_deletion).filter(pk=category.pk).first()
    if found is None:
        raise ServiceCategoryNotFound
    return found
