"""Bulk actions of agency staff on selected sub-accounts, and the export of sub-accounts to a file."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, Final

from django import forms
from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from agency.models import Addon, Agency, Plan
from agency.pages.forms import ConfirmationForm, MultilineField, ReasonForm
from agency.services import AddonNotFound, PlanNotFound
from agency.services.bulk import BulkAction, BulkCall, BulkTargets, IdBatch, Selection, TargetLabel
from agency.services.exports import ExportSource, RowBatch
from config.api.requests import NothingMatches, QueryParameters
from config.errors import InvalidInput
from workspaces.subaccounts.console.forms import AddonForm, PlanForm
from workspaces.subaccounts.filters import ConsoleSubAccountFilterSet
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import (
    AddonNotHeld,
    WorkspaceNotFound,
    assign_plan,
    grant_addon,
    restore_workspace,
    revoke_addon,
    suspend_workspace,
)
from workspaces.subaccounts.services.notifications import LONGEST_MESSAGE, send_owner_message


def filter_by_query(query: str, rows: "QuerySet[Workspace]") -> "QuerySet[Workspace]":
    """Apply the filters of the list's query string. A value that no sub-account can have matches no row."""
    try:
        return ConsoleSubAccountFilterSet.apply(QueryParameters(query), rows)
    except (NothingMatches, InvalidInput):
        return rows.none()


def selected_sub_accounts(selection: Selection) -> "QuerySet[Workspace]":
    """Give the chosen sub-accounts of the agency, without those created after the choice."""
    own = Workspace.objects.of(selection.agency).filter(created_at__lte=selection.until)
    found: QuerySet[Workspace] = (
        filter_by_query(selection.query, own) if selection.picked is None else own.filter(uuid__in=selection.picked)
    )
    return found


def next_rows(selection: Selection, cursor: Any, size: int) -> "QuerySet[Workspace]":
    """Give the next chosen rows, newest first. The list's own index serves this order."""
    rows = selected_sub_accounts(selection)
    if cursor:
        at, pk = datetime.fromisoformat(cursor[0]), cursor[1]
        rows = rows.filter(Q(created_at__lt=at) | Q(pk__lt=pk), created_at__lte=at)
    return rows.order_by("-created_at", "-id")[:size]


def cursor_after(found: list[tuple[datetime, int]], size: int) -> Any:
    """Give the cursor of the next batch; None if this batch was not full."""
    return None if len(found) < size else [found[-1][0].isoformat(), found[-1][1]]


def count_selected(selection: Selection) -> int:
    return selected_sub_accounts(selection).count()


def next_batch(selection: Selection, cursor: Any, size: int) -> IdBatch:
    """Give the next batch of ids. Sub-accounts picked by hand come in one batch, in the order of their list."""
    if selection.picked is not None:
        places = {uuid: place for place, uuid in enumerate(selection.picked)}
        picked = sorted(selected_sub_accounts(selection).values_list("uuid", "pk"), key=lambda row: places[row[0]])
        return IdBatch([pk for _, pk in picked], None)
    found = list(next_rows(selection, cursor, size).values_list("created_at", "pk"))
    return IdBatch([pk for _, pk in found], cursor_after(found, size))


def target_labels(agency: Agency, ids: Collection[int]) -> Mapping[int, TargetLabel]:
    rows = Workspace.objects.of(agency).filter(pk__in=ids).values_list("pk", "name", "uuid")
    return {pk: TargetLabel(name, reverse("console:sub-account", args=[uuid])) for pk, name, uuid in rows}


BULK_TARGETS: Final = BulkTargets(
    name="sub-accounts",
    label=_("Sub-accounts"),
    url_name="console:sub-accounts",
    most=100_000,
    count=count_selected,
    walk=next_batch,
    shown=target_labels,
)


class MessageForm(forms.Form):
    text = MultilineField(
        label=_("Message"),
        max_length=LONGEST_MESSAGE,
        widget=forms.Textarea(attrs={"rows": 8}),
        help_text=_("Each owner gets this by e-mail from your agency. We add a greeting and a link to sign in."),
    )


def _workspace(call: BulkCall) -> Workspace:
    found: Workspace | None = Workspace.objects.of(call.agency).select_related("plan").filter(pk=call.target_id).first()
    if found is None:
        raise WorkspaceNotFound
    return found


def _plan(call: BulkCall) -> Plan:
    """Find the plan as the API does. Archived plans cannot be assigned."""
    found = Plan.objects.filter(agency=call.agency, archived_at=None, uuid=call.parameters["plan"]).first()
    if found is None:
        raise PlanNotFound
    return found


def _addon(call: BulkCall, **more: object) -> Addon:
    found = Addon.objects.filter(agency=call.agency, uuid=call.parameters["addon"], **more).first()
    if found is None:
        raise AddonNotFound
    return found


def _suspend(call: BulkCall) -> bool:
    workspace = _workspace(call)
    suspend_workspace(workspace=workspace, reason=call.parameters["reason"], now=call.now, by=call.by)
    return workspace.is_active


def _restore(call: BulkCall) -> bool:
    workspace = _workspace(call)
    restore_workspace(workspace=workspace, now=call.now, by=call.by)
    return not workspace.is_active


def _assign_plan(call: BulkCall) -> bool:
    workspace, plan = _workspace(call), _plan(call)
    before = (workspace.plan_id, workspace.plan_limits)
    assign_plan(workspace=workspace, plan=plan, now=call.now, by=call.by)
    return before != (plan.pk, plan.limits)


def _grant_addon(call: BulkCall) -> bool:
    addon = _addon(call, archived_at=None)
    return grant_addon(workspace=_workspace(call), addon=addon, now=call.now, by=call.by)


def _revoke_addon(call: BulkCall) -> bool:
    """Revoke the add-on. If the sub-account does not hold it, nothing changes; the API answers 404 to that."""
    try:
        revoke_addon(workspace=_workspace(call), addon=_addon(call), now=call.now, by=call.by)
    except AddonNotHeld:
        return False
    return True


def _write(call: BulkCall) -> bool:
    send_owner_message(workspace=_workspace(call), text=call.parameters["text"], by=call.by)
    return True


def _plan_form(agency: Agency, data: Mapping[str, object] | None) -> PlanForm:
    plans = Plan.objects.filter(agency=agency, archived_at=None).order_by("name_key", "id")
    return PlanForm(data, plans=plans)


def _grant_form(agency: Agency, data: Mapping[str, object] | None) -> AddonForm:
    return AddonForm(data, addons=Addon.objects.filter(agency=agency, archived_at=None).order_by("name_key", "id"))


def _revoke_form(agency: Agency, data: Mapping[str, object] | None) -> AddonForm:
    return AddonForm(data, addons=Addon.objects.filter(agency=agency).order_by("name_key", "id"))


def _addon_of(form: forms.Form) -> dict[str, str]:
    return {"addon": str(form.cleaned_data["addon"].uuid)}


BULK_ACTIONS: Final = (
    BulkAction(
        name="sub_accounts.suspend",
        targets=BULK_TARGETS,
        label=_("Suspend"),
        text=_("Their API keys stop working at once. Nothing is deleted, and you can restore them at any time."),
        apply=_suspend,
        make_form=lambda _agency, data: ReasonForm(data),
        parameters_of=lambda form: {"reason": form.cleaned_data["reason"]},
        is_dangerous=True,
    ),
    BulkAction(
        name="sub_accounts.restore",
        targets=BULK_TARGETS,
        label=_("Restore"),
        text=_("Their API keys and dashboards work again at once."),
        apply=_restore,
        make_form=lambda _agency, data: ConfirmationForm(data),
    ),
    BulkAction(
        name="sub_accounts.assign_plan",
        targets=BULK_TARGETS,
        label=_("Assign a plan"),
        text=_("The plan's limits are copied onto each. What is in use beyond them stays, but nothing can be added."),
        apply=_assign_plan,
        make_form=_plan_form,
        parameters_of=lambda form: {"plan": str(form.cleaned_data["plan"].uuid)},
    ),
    BulkAction(
        name="sub_accounts.grant_addon",
        targets=BULK_TARGETS,
        label=_("Grant an add-on"),
        text=_("The add-on's limits are added to those of each plan."),
        apply=_grant_addon,
        make_form=_grant_form,
        parameters_of=_addon_of,
    ),
    BulkAction(
        name="sub_accounts.revoke_addon",
        targets=BULK_TARGETS,
        label=_("Revoke an add-on"),
        text=_(
            "The sub-account loses these limits at once. Anything in use beyond the remaining limits stays, but "
            "nothing can be added."
        ),
        apply=_revoke_addon,
        make_form=_revoke_form,
        parameters_of=_addon_of,
        is_dangerous=True,
    ),
    BulkAction(
        name="sub_accounts.write",
        targets=BULK_TARGETS,
        label=_("Write to the owners"),
        text=_("Each owner gets one e-mail for each selected sub-account."),
        apply=_write,
        make_form=lambda _agency, data: MessageForm(data),
        parameters_of=lambda form: {"text": form.cleaned_data["text"]},
    ),
)


# The columns of the export are named like the fields of the API's answers.

EXPORT_COLUMNS: Final = (
    "uuid",
    "name",
    "status",
    "plan",
    "owner_name",
    "owner_email",
    "business_type",
    "timezone",
    "external_id",
    "created_at",
    "suspended_at",
)


def _read_batch(selection: Selection, cursor: Any, size: int) -> RowBatch:
    own = [column for column in EXPORT_COLUMNS if column != "plan"]
    rows = list(next_rows(selection, cursor, size).values(*own, "plan__name", "pk"))
    after = cursor_after([(row["created_at"], row["pk"]) for row in rows], size)
    return RowBatch([{**row, "plan": row["plan__name"]} for row in rows], after)


SUB_ACCOUNT_EXPORT: Final = ExportSource(
    name="sub-accounts",
    label=_("Sub-accounts"),
    url_name="console:sub-accounts",
    columns=EXPORT_COLUMNS,
    read=_read_batch,
    count=count_selected,
)
