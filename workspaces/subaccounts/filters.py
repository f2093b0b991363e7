"""Filters of the list of sub-accounts, for the API and the console."""

from typing import Any

from django.db.models import QuerySet, Subquery

from agency.models import Plan
from config.api.filters import ChoiceFilter, FilterSet, TextFilter, UUIDFilter
from config.db import like_pattern, name_key
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.models.workspaces import BusinessType


class SubAccountFilterSet(FilterSet):
    """All conditions are on the sub-account's own columns, as `services.listing` needs them."""

    search = TextFilter(method="named_like", help_text="Part of the name, in any case and Unicode form.")
    status = ChoiceFilter(choices=Workspace.Status.choices, help_text="Only sub-accounts with this status.")
    plan = UUIDFilter(method="on_plan", help_text="Only sub-accounts on the plan with this uuid.")
    business_type = ChoiceFilter(choices=BusinessType.choices, help_text="Only sub-accounts of this type.")

    def named_like(self, rows: "QuerySet[Any]", name: str, fragment: str) -> "QuerySet[Any]":
        return rows.filter(name_key__like=like_pattern(name_key(fragment)))

    def on_plan(self, rows: "QuerySet[Any]", name: str, uuid: Any) -> "QuerySet[Any]":
        return rows.filter(plan_id=Subquery(Plan.objects.filter(uuid=uuid).values("id")[:1]))
