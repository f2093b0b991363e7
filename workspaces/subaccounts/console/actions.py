"""Actions on one sub-account: its plan, add-ons, owner and channels, and opening its dashboard as customer."""

from collections.abc import Mapping
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import path, reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _

from agency.console.base import FormPage
from agency.models import Addon, Member, Plan
from agency.pages.branding import in_page_language
from agency.pages.forms import ConfirmationForm
from agency.pages.pagination import with_id
from agency.request_actor import user_actor
from agency.services import AddonNotFound
from workspaces.subaccounts.console import sub_accounts
from workspaces.subaccounts.console.forms import AddonForm, OwnerForm, PlanForm
from workspaces.subaccounts.console.sub_accounts import PAGE, SubAccountDetailView
from workspaces.subaccounts.models import Channel
from workspaces.subaccounts.pages.agency_access import begin_access, leave_access
from workspaces.subaccounts.services import (
    AgencyIsSuspended,
    ChannelNotFound,
    OwnerHasPassword,
    WorkspaceIsSuspended,
    assign_plan,
    change_owner,
    disconnect_channel,
    grant_addon,
    open_as_customer,
    resend_owner_invitation,
    revoke_addon,
)


class PlanChoice(SubAccountDetailView, FormPage[PlanForm]):
    """Assigns a plan. Choosing the present plan again copies its limits anew."""

    template_name = "subaccounts/assign_plan.html"

    def make_form(self, data: Mapping[str, object] | None = None) -> PlanForm:
        plans = Plan.objects.filter(agency=self.agency, archived_at=None).order_by("name_key", "id")
        return PlanForm(data, plans=plans, initial={"plan": self.workspace.plan.uuid if self.workspace.plan else None})

    def save(self, form: PlanForm) -> HttpResponse:
        plan: Plan = form.cleaned_data["plan"]
        self.workspace = assign_plan(workspace=self.workspace, plan=plan, now=timezone.now(), by=self.by)
        message = _("%(name)s now has the plan %(plan)s.") % {"name": self.workspace.name, "plan": plan.name}
        return self.done(message, PAGE, self.workspace.uuid)

    def context(self) -> dict[str, object]:
        return {
            "crumbs": self.crumbs(),
            "heading": _("Plan of %(name)s") % {"name": self.workspace.name},
            "submit": _("Assign plan"),
            "workspace": self.workspace,
        }


class AddonGrant(SubAccountDetailView):
    """Grants the add-on chosen on the sub-account's page."""

    keeps_form_data = True
    form_page = PAGE

    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        form = AddonForm(request.POST, addons=Addon.objects.filter(agency=self.agency, archived_at=None))
        if not form.is_valid():
            messages.error(request, _("Choose an add-on first."))
            return redirect(PAGE, self.workspace.uuid)
        addon: Addon = form.cleaned_data["addon"]
        granted = grant_addon(workspace=self.workspace, addon=addon, now=timezone.now(), by=self.by)
        message = _("%(addon)s was granted to %(name)s.") if granted else _("%(name)s already has %(addon)s.")
        return self.done(message % {"addon": addon.name, "name": self.workspace.name}, PAGE, self.workspace.uuid)


class AddonRevoke(SubAccountDetailView, FormPage[ConfirmationForm]):
    addon: Addon

    def find(self, **ids: UUID | None) -> None:
        super().find(**ids)
        found = with_id(Addon.objects.filter(agency=self.agency, held_by__workspace=self.workspace), ids["addon"])
        if found is None:
            raise AddonNotFound
        self.addon = found

    def make_form(self, data: Mapping[str, object] | None = None) -> ConfirmationForm:
        return ConfirmationForm(data)

    def save(self, form: ConfirmationForm) -> HttpResponse:
        revoke_addon(workspace=self.workspace, addon=self.addon, now=timezone.now(), by=self.by)
        message = _("%(addon)s was revoked from %(name)s.") % {"addon": self.addon.name, "name": self.workspace.name}
        return self.done(message, PAGE, self.workspace.uuid)

    def context(self) -> dict[str, object]:
        names = {"addon": self.addon.name, "name": self.workspace.name}
        return {
            "crumbs": self.crumbs(),
            "heading": _("Revoke %(addon)s from %(name)s?") % names,
            "text": _(
                "The sub-account loses these limits at once. Anything in use beyond the remaining limits stays, but "
                "nothing can be added."
            ),
            "submit": _("Revoke add-on"),
            "danger": True,
        }


class OwnerChange(SubAccountDetailView, FormPage[OwnerForm]):
    def make_form(self, data: Mapping[str, object] | None = None) -> OwnerForm:
        initial = {"name": self.workspace.owner_name, "email": self.workspace.owner_email}
        return OwnerForm(data, initial=initial)

    def save(self, form: OwnerForm) -> HttpResponse:
        self.workspace = change_owner(workspace=self.workspace, now=timezone.now(), by=self.by, **form.cleaned_data)
        message = _("%(owner)s is the owner of %(name)s.")
        return self.done(
            message % {"owner": self.workspace.owner_name, "name": self.workspace.name}, PAGE, self.workspace.uuid
        )

    def context(self) -> dict[str, object]:
        return {
            "crumbs": self.crumbs(),
            "heading": _("Owner of %(name)s") % {"name": self.workspace.name},
            "text": _("The current owner loses access. We ask the new owner first, unless they belong to your agency."),
            "submit": _("Save owner"),
        }


class OwnerInvite(SubAccountDetailView):
    """Sends the owner another invitation, from the button on the sub-account's page."""

    creates = True
    form_page = PAGE

    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        try:
            resend_owner_invitation(workspace=self.workspace, now=timezone.now(), by=self.by)
        except OwnerHasPassword as refusal:
            messages.warning(request, in_page_language(refusal.message))
            return redirect(PAGE, self.workspace.uuid)
        return self.back(_("The owner of %(name)s is invited again."))


class ChannelDisconnect(SubAccountDetailView, FormPage[ConfirmationForm]):
    channel: Channel

    def find(self, **ids: UUID | None) -> None:
        super().find(**ids)
        found = with_id(self.workspace.channels.all(), ids["channel"])
        if found is None:
            raise ChannelNotFound
        self.channel = found

    def make_form(self, data: Mapping[str, object] | None = None) -> ConfirmationForm:
        return ConfirmationForm(data)

    def save(self, form: ConfirmationForm) -> HttpResponse:
        disconnect_channel(channel=self.channel, now=timezone.now(), by=self.by)
        message = _("%(channel)s of %(name)s is disconnected.") % self.names()
        return self.done(message, PAGE, self.workspace.uuid)

    def names(self) -> dict[str, str]:
        return {"channel": self.channel.name, "name": self.workspace.name}

    def context(self) -> dict[str, object]:
        return {
            "crumbs": self.crumbs(),
            "heading": _("Disconnect %(channel)s from %(name)s?") % self.names(),
            "text": _(
                "Messages no longer come in or go out through it. Automations that have no other channel of this type "
                "wait until it is connected again. Its account can be connected elsewhere."
            ),
            "submit": _("Disconnect"),
            "danger": True,
        }


DASHBOARD = "/app/"


class OpenAsCustomer(SubAccountDetailView):
    """Every agency member may open the dashboard. Their role, read on every request, decides what they may do there."""

    writers = frozenset(Member.Role)
    form_page = PAGE

    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        user, workspace = self.membership.user, self.workspace
        by = user_actor(request, user, acting_for=workspace.name)
        leave_access(request, user)
        try:
            ends_at = open_as_customer(workspace=workspace, now=timezone.now(), by=by)
        except (AgencyIsSuspended, WorkspaceIsSuspended) as refusal:
            messages.error(request, in_page_language(refusal.message))
            return redirect(PAGE, workspace.uuid)
        begin_access(request, user=user, workspace=workspace, ends_at=ends_at)
        return redirect(_page_of_dashboard(request))


def _page_of_dashboard(request: HttpRequest) -> str:
    """Give the dashboard page that the form names, or the dashboard's home if it names an address outside."""
    home, asked = reverse("app:home"), request.POST.get("page", "")
    is_inside = asked.startswith(DASHBOARD) and url_has_allowed_host_and_scheme(asked, allowed_hosts=None)
    return asked if is_inside and ".." not in asked else home


urlpatterns = [
    path("sub-accounts", sub_accounts.SubAccounts.as_view(), name="sub-accounts"),
    path("sub-accounts/new", sub_accounts.SubAccountNew.as_view(), name="sub-account-new"),
    path("sub-accounts/<id:uuid>", sub_accounts.SubAccountPage.as_view(), name="sub-account"),
    path("sub-accounts/<id:uuid>/edit", sub_accounts.SubAccountEdit.as_view(), name="sub-account-edit"),
    path("sub-accounts/<id:uuid>/suspend", sub_accounts.SubAccountSuspend.as_view(), name="sub-account-suspend"),
    path("sub-accounts/<id:uuid>/restore", sub_accounts.SubAccountRestore.as_view(), name="sub-account-restore"),
    path("sub-accounts/<id:uuid>/activity", sub_accounts.SubAccountActivity.as_view(), name="sub-account-activity"),
    path("sub-accounts/<id:uuid>/open", OpenAsCustomer.as_view(), name="sub-account-open"),
    path("sub-accounts/<id:uuid>/owner", OwnerChange.as_view(), name="sub-account-owner"),
    path("sub-accounts/<id:uuid>/owner/invite", OwnerInvite.as_view(), name="sub-account-owner-invite"),
    path("sub-accounts/<id:uuid>/plan", PlanChoice.as_view(), name="sub-account-plan"),
    path("sub-accounts/<id:uuid>/add-ons", AddonGrant.as_view(), name="sub-account-addons"),
    path("sub-accounts/<id:uuid>/add-ons/<id:addon>/revoke", AddonRevoke.as_view(), name="sub-account-addon-revoke"),
    path(
        "sub-accounts/<id:uuid>/channels/<id:channel>/disconnect",
        ChannelDisconnect.as_view(),
        name="sub-account-channel-disconnect",
    ),
]
