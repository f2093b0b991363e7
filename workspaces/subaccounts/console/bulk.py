"""Bulk actions of agency staff on sub-accounts: the API's actions for one sub-account, and a message to the owner."""

from typing import Any, Final

from django import forms
from django.utils.translation import gettext_lazy as _

from agency.models import Addon, Agency, Plan
from agency.pages.forms import ConfirmationForm, MultilineField, ReasonForm
from agency.services import AddonNotFound, PlanNotFound
from agency.services.bulk import BulkAction, BulkCall, BulkTargets
from workspaces.subaccounts.console import chosen
from workspaces.subaccounts.console.forms import AddonForm, PlanForm
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
from workspaces.subaccounts.services.owner_messages import LONGEST_MESSAGE, write_to_owner

TARGETS: Final = BulkTargets(
    name="sub-accounts",
    label=_("Sub-accounts"),
    url_name="console:sub-accounts",
    most=100_000,
    count=chosen.count,
    walk=chosen.walk,
    shown=chosen.shown,
)


class MessageForm(forms.Form):
    text = MultilineField(
        label=_("Message"),
        max_length=LONGEST_MESSAGE,
        widget=forms.Textarea(attrs={"rows": 8}),
        help_text=_("Goes to each owner by e-mail, in your name. The greeting and a link to sign in are added."),
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


def _addon(call: BulkCall, **more: Any) -> Addon:
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
    write_to_owner(workspace=_workspace(call), text=call.parameters["text"], by=call.by)
    return True


def _plan_form(agency: Agency, data: Any) -> PlanForm:
    plans = Plan.objects.filter(agency=agency, archived_at=None).order_by("name_key", "id")
    return PlanForm(data, plans=plans)


def _grant_form(agency: Agency, data: Any) -> AddonForm:
    return AddonForm(data, addons=Addon.objects.filter(agency=agency, archived_at=None).order_by("name_key", "id"))


def _revoke_form(agency: Agency, data: Any) -> AddonForm:
    return AddonForm(data, addons=Addon.objects.filter(agency=agency).order_by("name_key", "id"))


def _addon_of(form: forms.Form) -> dict[str, Any]:
    return {"addon": str(form.cleaned_data["addon"].uuid)}


ACTIONS: Final = (
    BulkAction(
        name="sub_accounts.suspend",
        targets=TARGETS,
        label=_("Suspend"),
        text=_("Their API keys stop working at once. Nothing is deleted, and you can restore them at any time."),
        apply=_suspend,
        make_form=lambda _agency, data: ReasonForm(data),
        parameters_of=lambda form: {"reason": form.cleaned_data["reason"]},
        is_dangerous=True,
    ),
    BulkAction(
        name="sub_accounts.restore",
        targets=TARGETS,
        label=_("Restore"),
        text=_("Their API keys and dashboards work again at once."),
        apply=_restore,
        make_form=lambda _agency, data: ConfirmationForm(data),
    ),
    BulkAction(
        name="sub_accounts.assign_plan",
        targets=TARGETS,
        label=_("Assign a plan"),
        text=_("The plan's limits are copied onto each. What is in use beyond them stays, but nothing can be added."),
        apply=_assign_plan,
        make_form=_plan_form,
        parameters_of=lambda form: {"plan": str(form.cleaned_data["plan"].uuid)},
    ),
    BulkAction(
        name="sub_accounts.grant_addon",
        targets=TARGETS,
        label=_("Grant an add-on"),
        text=_("The add-on's limits are added to those of each plan."),
        apply=_grant_addon,
        make_form=_grant_form,
        parameters_of=_addon_of,
    ),
    BulkAction(
        name="sub_accounts.revoke_addon",
        targets=TARGETS,
        label=_("Revoke an add-on"),
        text=_("Its limits are taken away at once. What is in use beyond them stays, but nothing can be added."),
        apply=_revoke_addon,
        make_form=_revoke_form,
        parameters_of=_addon_of,
        is_dangerous=True,
    ),
    BulkAction(
        name="sub_accounts.write",
        targets=TARGETS,
        label=_("Write to the owners"),
        text=_("Each owner gets one e-mail for each of their sub-accounts that is chosen."),
        apply=_write,
        make_form=lambda _agency, data: MessageForm(data),
        parameters_of=lambda form: {"text": form.cleaned_data["text"]},
    ),
)
