"""Base classes of the dashboard's pages, which check access, and the workspace that is open."""

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, cast
from urllib.parse import unquote, urlsplit
from uuid import UUID

from django.contrib import messages
from django.db.models import QuerySet, TextChoices
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.http import url_has_allowed_host_and_scheme, urlencode
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.actors import Actor
from agency.models import Agency, Member, SignUpSettings, User
from agency.models.branding import AGENCY_PICTURE_BYTE_FIELDS
from agency.notification_kinds import WRITE_ROLES, NotificationKind, kinds_for
from agency.pages.branding import host_agency_id, prefer_language_of, theme_of_agency
from agency.pages.form_drafts import latest_form_draft
from agency.pages.help import DASHBOARD, help_url
from agency.pages.views import FormOf, FormView, SignedInView, has_shown_code, two_factor_required_page
from agency.request_actor import user_actor
from agency.services.members import names_of_owners, remember_landing
from agency.tenants import Audience
from config.api.requests import parse_uuid
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.pages.agency_access import AgencyAccess, access_of, leave_access, opened_workspace
from workspaces.subaccounts.pages.menu import NOTIFICATIONS, count_for_frame, render_menu_of
from workspaces.subaccounts.services.recording import last_entry_of_visit, record_change_by_agency

# The open workspace is read anew on every request.

CHOSEN_WORKSPACE_KEY = "workspace"
SWITCHED_TO_KEY = "switched_to"
MOST_OTHERS = 8


class Role(TextChoices):
    """A user's role in the open workspace. The last two are for agency staff in a customer's dashboard."""

    OWNER = "owner", gettext_lazy("Owner")
    MEMBER = "member", gettext_lazy("Member")
    AGENCY = "agency", gettext_lazy("Agency")
    AGENCY_VIEWER = "agency_viewer", gettext_lazy("Agency, view only")


# The roles that may make all changes but those reserved for the owner.
CHANGE_ROLES = frozenset({Role.OWNER, Role.MEMBER, Role.AGENCY})
OWNER_ROLES = frozenset({Role.OWNER})


class AgencyAccessEnded(Exception):
    """A staff member's access to a customer's dashboard is over: its time is up, or they lost the right to it."""

    def __init__(self, workspace: UUID) -> None:
        super().__init__()
        self.workspace = workspace


@dataclass(frozen=True, slots=True)
class CurrentWorkspace:
    """A user in a workspace. `others` are a few of the user's other workspaces.

    `access_ends_at` is set for agency staff who opened the dashboard as customer.
    """

    user: User
    workspace: Workspace
    others: list[Workspace]
    role: Role
    access_ends_at: datetime | None = None

    @property
    def agency(self) -> Agency:
        return self.workspace.agency

    @property
    def is_open(self) -> bool:
        return self.workspace.is_active and self.agency.is_active

    @property
    def may_add_workspace(self) -> bool:
        """Say whether the user may add a workspace from the switcher."""
        sign_up: SignUpSettings | None = getattr(self.agency, "sign_up", None)
        return not self.is_opened_by_agency and sign_up is not None and sign_up.allows_further_workspaces

    @property
    def is_opened_by_agency(self) -> bool:
        return self.access_ends_at is not None

    @property
    def requires_two_factor(self) -> bool:
        """Say whether the workspace requires two-factor of all its users, agency staff included."""
        return self.workspace.two_factor_required

    @property
    def may_change(self) -> bool:
        return self.role in CHANGE_ROLES


def workspaces_of(user: User, agency_id: int | None = None) -> "QuerySet[Workspace]":
    """Give the workspaces that a user owns or works in, with their agencies, by name.

    With `agency_id`, give only that agency's.
    """
    rows: QuerySet[Workspace] = Workspace.objects.of_person(user).select_related("agency__brand", "agency__sign_up")
    if agency_id is not None:
        rows = rows.filter(agency=agency_id)
    return rows.defer(*(f"agency__{picture}" for picture in AGENCY_PICTURE_BYTE_FIELDS)).order_by("name_key", "id")


def find_current_workspace(request: HttpRequest, user: User) -> CurrentWorkspace | None:
    """Find the workspace that the session names, or the one chosen last, or the only one; None if there is none.

    A customer's workspace that agency staff have opened comes first. If that access is over, this ends it and raises
    `AgencyAccessEnded`; the next call looks among the user's own workspaces.
    """
    access = access_of(request, user)
    if access:
        return _opened(request, user, access)
    rows = workspaces_of(user, host_agency_id(request))
    few = list(rows[: MOST_OTHERS + 1])
    chosen = parse_uuid(request.session.get(CHOSEN_WORKSPACE_KEY, "")) or user.chosen_workspace
    found = _workspace_with_uuid(few, chosen)
    if found is None and chosen and len(few) > MOST_OTHERS:
        found = rows.filter(uuid=chosen).first()
    if found is None and len(few) == 1:
        found = few[0]
    return _entered(user, found, [one for one in few if one != found]) if found else None


def _entered(user: User, workspace: Workspace, others: list[Workspace]) -> CurrentWorkspace:
    owns = workspace.owner_id == user.pk and workspace.owner_pending_since is None
    return CurrentWorkspace(user, workspace, others, Role.OWNER if owns else Role.MEMBER)


def _opened(request: HttpRequest, user: User, access: AgencyAccess) -> CurrentWorkspace:
    opened = opened_workspace(access, now=timezone.now(), host_agency_id=host_agency_id(request))
    if opened is None or _lacks_two_factor(request, *opened):
        leave_access(request, user)
        raise AgencyAccessEnded(access.workspace)
    workspace, role = opened
    may_change = Member(role=role).may_change_things
    return CurrentWorkspace(user, workspace, [], Role.AGENCY if may_change else Role.AGENCY_VIEWER, access.ends_at)


def _lacks_two_factor(request: HttpRequest, workspace: Workspace, role: str) -> bool:
    """Say whether the agency requires two-factor of this role, and this session has shown no code."""
    return role in workspace.agency.two_factor_roles and not has_shown_code(request)


def _workspace_with_uuid(rows: list[Workspace], uuid: UUID | None) -> Workspace | None:
    return next((one for one in rows if one.uuid == uuid), None)


def choose_workspace(request: HttpRequest, user: User, workspace: Workspace) -> None:
    """Keep the choice in the session and as the user's landing page. This also leaves a customer's dashboard."""
    leave_access(request, user)
    request.session[CHOSEN_WORKSPACE_KEY] = str(workspace.uuid)
    remember_landing(user=user, landing="app", workspace_uuid=workspace.uuid)


def remember_switch(request: HttpRequest, address: str) -> None:
    """Remember where a switch leads: a page that the workspace does not have then gives way to its home."""
    request.session[SWITCHED_TO_KEY] = unquote(urlsplit(address).path)


def safe_dashboard_url(address: str) -> str:
    """Give the address back if it leads to a page of the dashboard, else an empty text."""
    inside = address.startswith(reverse("app:home")) and url_has_allowed_host_and_scheme(address, allowed_hosts=None)
    return address if inside else ""


class CustomerView(SignedInView):
    """A page of the dashboard for people who have signed in."""

    landing_page = "app:home"
    user: User

    def check_access(self, request: HttpRequest) -> HttpResponse | None:
        refusal = super().check_access(request)
        if refusal is None:
            self.user = cast(User, request.user)
        return refusal

    @property
    def workspaces(self) -> "QuerySet[Workspace]":
        """The workspaces that the user owns or works in; on an agency's host, only that agency's."""
        return workspaces_of(self.user, host_agency_id(self.request))


class DashboardView(CustomerView):
    """A page of one workspace. Only `writers` may POST; with `writers_only`, only they may open the page."""

    writers: ClassVar[frozenset[Role]] = CHANGE_ROLES
    writers_only: ClassVar[bool] = False
    current: CurrentWorkspace

    def dispatch(self, request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        """After a switch, lead home instead of to a page about something that only the other workspace has."""
        if request.method != "GET" or request.session.get(SWITCHED_TO_KEY) != request.path:
            return super().dispatch(request, *args, **kwargs)
        del request.session[SWITCHED_TO_KEY]
        try:
            response = super().dispatch(request, *args, **kwargs)
        except Http404:
            return redirect("app:home")
        if 300 <= response.status_code < 400:
            remember_switch(request, response.headers["Location"])
        return response

    def check_access(self, request: HttpRequest) -> HttpResponse | None:
        refusal = super().check_access(request)
        if refusal:
            return refusal
        kept = latest_form_draft(request)
        if kept and kept.made_for:
            request.session[CHOSEN_WORKSPACE_KEY] = kept.made_for
        try:
            current = find_current_workspace(request, self.user)
        except AgencyAccessEnded as ended:
            messages.warning(
                request, _("The customer's dashboard is closed. Your hour is over, or you no longer have access.")
            )
            return redirect("console:sub-account", ended.workspace)
        if current is None:
            return self._without_workspace(request)
        self.current = current
        prefer_language_of(request, current.agency)
        if not current.is_open:
            return render(request, "subaccounts/suspended.html", {"current": current}, status=403)
        if current.requires_two_factor and not has_shown_code(request):
            back = self.address_of_form(request)
            return self.keep_for_later(two_factor_required_page(request, name=current.workspace.name, back=back))
        if (request.method == "POST" or self.writers_only) and not self.may_write:
            return self._refuse_role()
        return self.refuse_other(current.workspace.uuid, current.workspace.name)

    def handle(self, request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        """Record each change that agency staff make as customer, unless the service has recorded it."""
        if request.method != "POST" or not self.current.is_opened_by_agency or self.only_looks(request):
            return super().handle(request, *args, **kwargs)
        by = self.by
        before = last_entry_of_visit(workspace=self.workspace, by=by)
        response = super().handle(request, *args, **kwargs)
        if response.status_code < 400 and last_entry_of_visit(workspace=self.workspace, by=by) == before:
            record_change_by_agency(workspace=self.workspace, page=self._name_of_page(request), by=by)
        return response

    @staticmethod
    def _name_of_page(request: HttpRequest) -> str:
        match = request.resolver_match
        return (match.url_name or "").replace("-", " ").capitalize() if match else ""

    @property
    def may_write(self) -> bool:
        return self.current.role in self.writers

    def _refuse_role(self) -> HttpResponse:
        """Say inside the dashboard's frame which role the user has, which roles may do this, and whom to ask."""
        role, workspace = self.current.role, self.workspace
        # An agency's viewer may not do what others of the agency may.
        is_up_to_agency = role == Role.AGENCY_VIEWER and Role.AGENCY in self.writers
        if is_up_to_agency:
            allowed = [one.label for one in Member.Role if one in WRITE_ROLES]
            to_ask = names_of_owners(self.current.agency)
        else:
            allowed = [Role.OWNER.label]
            to_ask = [] if workspace.owner_pending_since else [workspace.owner.name or workspace.owner.email]
        return self.page(
            "subaccounts/dashboard/refused.html",
            status=403,
            role=Member.Role.VIEWER.label if is_up_to_agency else role.label,
            is_up_to_agency=is_up_to_agency,
            allowed=allowed,
            to_ask=to_ask or [workspace.agency.name],
        )

    def _without_workspace(self, request: HttpRequest) -> HttpResponse:
        if not self.workspaces.exists():
            return render(request, "subaccounts/no_workspace.html", status=403)
        back = request.get_full_path() if request.method == "GET" else reverse("app:home")
        return redirect(f"{reverse('app:choose')}?{urlencode({'next': back})}")

    @property
    def workspace(self) -> Workspace:
        return self.current.workspace

    @property
    def area_id(self) -> UUID:
        return self.workspace.uuid

    @property
    def by(self) -> Actor:
        customer = self.current.workspace.name if self.current.is_opened_by_agency else ""
        return user_actor(self.request, self.user, acting_for=customer, of_workspace=not customer)

    @property
    def area_notification_kinds(self) -> list[NotificationKind]:
        """The kinds of notifications that a workspace's users get."""
        return kinds_for(Audience.WORKSPACE)

    @property
    def back_to(self) -> str:
        """The page, named by `next`, that sent the user here to create something it needs; empty without one."""
        return safe_dashboard_url(self.request.GET.get("next", ""))

    def done(self, message: str, to: str, *args: object) -> HttpResponse:
        """Show the message and redirect to `back_to`, or to the page named `to` if there is none."""
        return super().done(message, self.back_to or to, *(() if self.back_to else args))

    @cached_property
    def _counts(self) -> dict[str, int]:
        """What the frame counts, by the names of pages: one statement, made when the frame is rendered."""
        kinds = [kind.name for kind in self.area_notification_kinds]
        return count_for_frame(self.workspace, self.user, kinds, self.area_id)

    @cached_property
    def _menu(self) -> str:
        return render_menu_of(self.workspace, self.nav, self._counts)

    def page(self, template: str, *, status: int = 200, **context: object) -> HttpResponse:
        """Render a page inside the dashboard's frame."""
        frame = {
            "area": "app",
            "frame": "pages/dashboard/base.html",
            "hidden_fields": "pages/dashboard/_hidden_fields.html",
            "current": self.current,
            "look": theme_of_agency(self.current.agency),
            "menu": lambda: self._menu,
            "nav": self.nav,
            "unread_count": lambda: self._counts[NOTIFICATIONS],
            "help_url": help_url(DASHBOARD, self.request, self.nav),
            "back_to": self.back_to,
            "may_write": self.may_write,
            "is_answer": self.request.method == "POST",
            "form_to_send_again": self.form_to_send_again(),
        }
        return render(self.request, template, {**frame, **context}, status=status)


class DashboardForm(FormView[FormOf], DashboardView):
    """A page of the dashboard that is a form."""
