"""Filters of the lists of staff and classes."""

from typing import Any

from django.db.models import QuerySet

from config.api.filters import ChoiceFilter, DateTimeFilter, FilterSet, TextFilter, UUIDFilter
from workspaces.classes.models import ClassSession


def matching(rows: "QuerySet[Any]", _: str, fragment: str) -> Any:
    """Keep what a search for the fragment finds."""
    found: Any = rows
    return found.matching(fragment)


class StaffFilterSet(FilterSet):
    search = TextFilter(
        method=matching,
        help_text="Only those whose name holds this, in any case; `%` and `_` are plain characters.",
    )


class ClassFilterSet(FilterSet):
    """What narrows classes wherever they are listed; a page asks for days, the API for times."""

    service = UUIDFilter(field_name="service__uuid", help_text="Only classes of this service.")
    staff = UUIDFilter(field_name="staff__uuid", help_text="Only classes hosted by this staff member.")
    status = ChoiceFilter(choices=ClassSession.Status.choices, help_text="Only classes of this status.")


class ClassSessionFilterSet(ClassFilterSet):
    starts_after = DateTimeFilter(
        field_name="starts_at", lookup_expr="gte", help_text="Only classes that start then or later."
    )
    starts_before = DateTimeFilter(
        field_name="starts_at", lookup_expr="lte", help_text="Only classes that start then or earlier."
    )
