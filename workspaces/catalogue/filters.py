"""Filters of the catalogue's lists."""

from typing import Any

from django.db.models import QuerySet

from config.api.filters import BooleanFilter, ChoiceFilter, FilterSet, TextFilter, UUIDFilter
from workspaces.catalogue.models import Service


def matching(rows: "QuerySet[Any]", _: str, fragment: str) -> Any:
    """Keep what a search for the fragment finds."""
    found: Any = rows
    return found.matching(fragment)


SEARCH = "Only those whose name holds this, in any case; `%` and `_` are plain characters."


class ServiceCategoryFilterSet(FilterSet):
    search = TextFilter(method=matching, help_text=SEARCH)


class ServiceFilterSet(FilterSet):
    search = TextFilter(method=matching, help_text=SEARCH)
    kind = ChoiceFilter(choices=Service.Kind.choices, help_text="Only services of this kind.")
    category = UUIDFilter(field_name="category__uuid", help_text="Only services of this category.")


class ProductFilterSet(FilterSet):
    search = TextFilter(method=matching, help_text=SEARCH)
    active = BooleanFilter(help_text="Only products that are active, or not.")
    category = UUIDFilter(field_name="category__uuid", help_text="Only products of this category.")
