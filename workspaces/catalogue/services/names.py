"""Checks for unique names, and for the number of objects in a workspace."""

from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from config.db import name_key, violated_constraint
from config.errors import Forbidden, InvalidInput
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import lock_workspace


def save_named(row: Any, *, once: str, taken: type[InvalidInput], update_fields: list[str] | None = None) -> None:
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


def require_room_for_one(workspace: Workspace, rows: "QuerySet[Any, Any]", *, most: int, full: type[Forbidden]) -> None:
    """Raise `full` if there are `most` rows already. The workspace stays locked until the transaction ends."""
    lock_workspace(workspace)
    if rows.count() >= most:
        raise full
