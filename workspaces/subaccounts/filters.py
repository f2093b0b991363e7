"""Filters of the list of sub-accounts, for the API and the console."""

from uuid import UUID

from django.db.models import QuerySet, Subquery

from agency.models import Plan
from config.api.filters import ChoiceFilter, DateTimeFilter, FilterSet, TextFilter, UUIDFilter
from config.api.requests import NothingMatches
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.models.workspaces import BusinessType, search_condition
from workspaces.subaccounts.services.health import health_condition


class SubAccountFilterSet(FilterSet):
    """All conditions are on the sub-account's own columns, as `services.listing` needs them."""

    search = TextFilter(
        method="matching",
        help_text="Part of the name, the owner's name or the owner's e-mail, in any case and Unicode form; "
        "or a uuid, its first eight digits at least; or an `external_id` in full.",
    )
    status = ChoiceFilter(choices=Workspace.Status.choices, help_text="Only sub-accounts with this status.")
    plan = UUIDFilter(method="on_plan", help_text="Only sub-accounts on the plan with this uuid.")
    business_type = ChoiceFilter(choices=BusinessType.choices, help_text="Only sub-accounts of this type.")
    external_id = TextFilter(help_text="Only the sub-account with this id of yours.")
    owner_email = TextFilter(method="owned_by", help_text="Only sub-accounts whose owner has this e-mail, in any case.")
    created_after = DateTimeFilter(
        field_name="created_at", lookup_expr="gte", help_text="Only sub-accounts created at this time or later."
    )
    created_before = DateTimeFilter(
        field_name="created_at", lookup_expr="lt", help_text="Only sub-accounts created before this time."
    )

    def matching(self, rows: "QuerySet[Workspace]", name: str, fragment: str) -> "QuerySet[Workspace]":
        return rows.filter(search_condition(fragment))

    def on_plan(self, rows: "QuerySet[Workspace]", name: str, uuid: UUID) -> "QuerySet[Workspace]":
        return rows.filter(plan_id=Subquery(Plan.objects.filter(uuid=uuid).values("id")[:1]))

    def owned_by(self, rows: "QuerySet[Workspace]", name: str, email: str) -> "QuerySet[Workspace]":
        return rows.filter(owner_email=email.lower())


class ConsoleSubAccountFilterSet(SubAccountFilterSet):
    """The filters of the console's list: those of the API, and what needs attention."""

    health = TextFilter(method="needing_attention")

    def needing_attention(self, rows: "QuerySet[Workspace]", name: str, check: str) -> "QuerySet[Workspace]":
        condition = health_condition(check)
        if condition is None:
            raise NothingMatches
        return rows.filter(condition)
