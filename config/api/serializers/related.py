"""A field that refers to another object of the same tenant."""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from rest_framework import serializers

from config.api.fields import UUIDField
from config.api.serializers.representation import representation_of
from config.errors import NotFound

Lookup = Callable[[Mapping[str, Any]], "QuerySet[Any]"]


class RelatedField(UUIDField):
    """Takes a uuid, looks it up in `queryset(context)`, and shows the object as `representation` writes it.

    An object that is not found there reads like one that does not exist. `missing` is raised after all other fields
    were checked.
    """

    is_written_as_it_is = False

    def __init__(
        self,
        *,
        queryset: Lookup,
        missing: type[NotFound],
        representation: serializers.Serializer[Any],
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.queryset, self.missing, self.representation = queryset, missing, representation

    def find(self, uuid: UUID | None) -> Any:
        """Look up the object. Raises `missing`."""
        if uuid is None:
            return None
        found = self.queryset(self.context).filter(uuid=uuid).first()
        if found is None:
            raise self.missing
        return found

    def to_representation(self, value: Any) -> Any:
        return representation_of(type(self.representation)).build(value)
