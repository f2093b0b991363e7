"""The page of one sub-account, and the pages that change it."""

from collections.abc import Iterable, Iterator
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.console.base import ConsoleView, FormPage, breadcrumb
from agency.models import ActivityEntry, Addon, Agency, Plan
from agency.pages.activity import action_label
from agency.pages.forms import ReasonForm
from agency.pages.pagination import keyset_page, with_id
from agency.pages.registry import Alert
from workspaces.subaccounts.console.forms import AddonForm, NewSubAccountForm, SubAccountForm, initial_of
from workspaces.subaccounts.console.views.sub_accounts import NAV
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.pages.hub import hub_page
from workspaces.subaccounts.pages.usage import UsedLimit, limits_against_use
from workspaces.subaccounts.services import (
    WorkspaceNotFound,
    change_workspace,
    create_workspace,
    owner_state,
    restore_workspace,
    suspend_workspace,
)

TITLE = gettext_lazy("Sub-accounts")
PAGE = "console:sub-account"
LATEST = 6
MOST_NAMED = 3
MOST_PLANS = 100


def plans_of(agency: Agency) -> "QuerySet[Plan]":
    """Give the plans that can be assigned."""
    return Plan.objects.filter(agency=agency, archived_at=None).order_by("name_key", "id")


def _limit_concerns(workspace: Workspace, used: Iterable[UsedLimit]) -> Iterator[Alert]:
    """Name limits that are used up, except those so small that they are meant to be used up."""
    full = [limit for limit in used if limit.is_reached and not limit.is_meant_to_be_full]
    for limit in full[:MOST_NAMED]:
        yield Alert(
            text=_("%(used)s of %(allowed)s %(label)s are used.")
            % {"used": limit.used, "allowed": limit.allowed, "label": limit.label},
            url=reverse("console:sub-account-plan", args=[workspace.uuid]),
            action=_("Plan"),
        )


class OneSubAccount(ConsoleView):
    """A page about one sub-account of the agency. Malformed, unknown and foreign ids get the same answer."""

    nav = NAV
    workspace: Workspace

    def find(self, **ids: Any) -> None:
        found = with_id(Workspace.objects.of(self.agency).select_related("plan", "owner"), ids["uuid"])
        if found is None:
            raise WorkspaceNotFound
        self.workspace = found

    def activity(self) -> Any:
        return ActivityEntry.objects.filter(agency=self.agency, workspace_uuid=self.workspace.uuid)

    def crumbs(self) -> list[Any]:
        return [breadcrumb(TITLE, NAV), breadcrumb(self.workspace.name, PAGE, self.workspace.uuid)]

    def back(self, message: str) -> HttpResponse:
        return self.done(message % {"name": self.workspace.name}, PAGE, self.workspace.uuid)


class SubAccountPage(OneSubAccount):
    def get(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        limits = limits_against_use(self.workspace)
        held_addons = list(self.workspace.held_addons.select_related("addon").order_by("granted_at", "id"))
        hub = hub_page(self.workspace, whole=request.GET.get("panel", ""))
        free = Addon.objects.filter(agency=self.agency, archived_at=None).exclude(held_by__workspace=self.workspace)
        return self.page(
            "subaccounts/sub_account.html",
            workspace=self.workspace,
            limits=[limit for limit in limits if not limit.is_idle],
            idle_limits=[limit for limit in limits if limit.is_idle],
            held_addons=held_addons,
            addon_form=AddonForm(addons=free.order_by("name_key", "id")),
            owner_state=owner_state(self.workspace),
            plans=plans_of(self.agency).only("id", "uuid", "name")[:MOST_PLANS] if self.may_write else [],
            concerns=[*_limit_concerns(self.workspace, limits), *hub.concerns],
            is_unchecked=hub.is_unchecked,
            panels=hub.panels,
            latest=[(entry, action_label(entry.action)) for entry in self.activity().order_by("-id")[:LATEST]],
        )


class SubAccountActivity(OneSubAccount):
    def get(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        entries = keyset_page(request, self.activity())
        return self.page("subaccounts/activity.html", workspace=self.workspace, entries=entries)


class SubAccountNew(FormPage[NewSubAccountForm]):
    nav = NAV
    creates = True

    def make_form(self, data: Any = None) -> NewSubAccountForm:
        plans = plans_of(self.agency)
        return NewSubAccountForm(data, plans=plans, initial={"timezone": "UTC"})

    def save(self, form: NewSubAccountForm) -> HttpResponse:
        workspace = create_workspace(agency=self.agency, now=timezone.now(), by=self.by, **form.cleaned_data)
        return self.done(_("%(name)s was created.") % {"name": workspace.name}, PAGE, workspace.uuid)

    def context(self) -> dict[str, Any]:
        return {"crumbs": [breadcrumb(TITLE, NAV)], "heading": _("New sub-account"), "submit": _("Create sub-account")}


class SubAccountEdit(OneSubAccount, FormPage[SubAccountForm]):
    def make_form(self, data: Any = None) -> SubAccountForm:
        return SubAccountForm(data, initial=initial_of(self.workspace), zone=self.workspace.timezone)

    def save(self, form: SubAccountForm) -> HttpResponse:
        self.workspace = change_workspace(workspace=self.workspace, by=self.by, **form.cleaned_data)
        return self.back(_("%(name)s was saved."))

    def context(self) -> dict[str, Any]:
        return {
            "crumbs": self.crumbs(),
            "heading": _("Edit %(name)s") % {"name": self.workspace.name},
            "submit": _("Save"),
        }


class SubAccountSuspend(OneSubAccount, FormPage[ReasonForm]):
    def make_form(self, data: Any = None) -> ReasonForm:
        return ReasonForm(data)

    def save(self, form: ReasonForm) -> HttpResponse:
        reason = form.cleaned_data["reason"]
        suspend_workspace(workspace=self.workspace, reason=reason, now=timezone.now(), by=self.by)
        return self.back(_("%(name)s was suspended."))

    def context(self) -> dict[str, Any]:
        return {
            "crumbs": self.crumbs(),
            "heading": _("Suspend %(name)s?") % {"name": self.workspace.name},
            "text": _("Its API keys stop working at once. Nothing is deleted, and you can restore it at any time."),
            "submit": _("Suspend"),
            "danger": True,
        }


class SubAccountRestore(OneSubAccount):
    form_page = PAGE

    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        restore_workspace(workspace=self.workspace, now=timezone.now(), by=self.by)
        return self.back(_("%(name)s was restored."))
