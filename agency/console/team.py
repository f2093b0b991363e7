"""Pages of the agency's team, which its owners manage."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.console.base import OWNERS, ConsoleView, FormPage, breadcrumb
from agency.console.forms import ROLE_DESCRIPTIONS, InvitationForm, RoleForm, TwoFactorForm
from agency.models import Agency, Invitation, Member, TwoFactor
from agency.pages.forms import ConfirmationForm
from agency.pages.pagination import with_id
from agency.pages.tables import Column, ListPage, Table
from agency.services import (
    InvitationNotFound,
    MemberNotFound,
    change_role,
    invite_member,
    remove_member,
    require_two_factor,
    send_invitation_again,
    withdraw_invitation,
)
from agency.services.invitations import MOST_WAITING

TEAM = "console:team"
LARGEST_ID = 2**63 - 1
TITLE = gettext_lazy("Team")


class Team(ListPage, ConsoleView):
    nav = TEAM
    writers = OWNERS
    table = Table(
        caption=TITLE,
        columns=(
            Column(name="person", label=gettext_lazy("Person"), order=("user__email", "id")),
            Column(name="role", label=gettext_lazy("Role"), order=("role", "created_at", "id")),
            Column(name="signed_in", label=gettext_lazy("Last signed in"), order=("user__last_login", "id")),
            Column(name="added", label=gettext_lazy("Added"), order=("created_at", "id")),
            Column(name="actions", label=gettext_lazy("Actions"), is_unseen=True),
        ),
        sort="added",
    )

    def get(self, request: HttpRequest) -> HttpResponse:
        members = Member.objects.filter(agency=self.agency).select_related("user")
        used = TwoFactor.objects.filter(user=OuterRef("user"), confirmed_at__isnull=False)
        state = self.read_table().fetch(members.annotate(uses_two_factor=Exists(used)))
        owners = members.filter(role=Member.Role.OWNER).values_list("pk")[:2]
        waiting = invitations_of(self.agency).order_by("created_at", "id")
        return self.list_page(
            "agency/team.html", state, invitations=waiting[:MOST_WAITING], has_one_owner=len(owners) == 1
        )


def invitations_of(agency: Agency) -> "QuerySet[Invitation]":
    """Return the unanswered invitations to this agency's team, including expired ones."""
    return Invitation.objects.filter(agency=agency, workspace_uuid=None, status=Invitation.Status.OPEN)


class Invite(FormPage[InvitationForm]):
    nav = TEAM
    creates = True
    writers = OWNERS
    template_name = "agency/member_form.html"

    def make_form(self, data: Mapping[str, object] | None = None) -> InvitationForm:
        return InvitationForm(data, initial={"role": Member.Role.VIEWER})

    def save(self, form: InvitationForm) -> HttpResponse:
        invitation = invite_member(agency=self.agency, now=timezone.now(), by=self.by, **form.cleaned_data)
        message = _("%(email)s is invited. They join the team when they accept the invitation.")
        return self.done(message % {"email": invitation.email}, TEAM)

    def context(self) -> dict[str, object]:
        heading = _("Invite a person")
        return {
            "crumbs": [breadcrumb(TITLE, TEAM)],
            "heading": heading,
            "submit": _("Invite"),
            "roles": ROLE_DESCRIPTIONS,
        }


class TwoFactorRequirement(FormPage[TwoFactorForm]):
    """Sets which roles must use two-factor."""

    nav = TEAM
    writers = OWNERS

    def make_form(self, data: Mapping[str, object] | None = None) -> TwoFactorForm:
        return TwoFactorForm(data, initial={"roles": self.agency.two_factor_roles})

    def save(self, form: TwoFactorForm) -> HttpResponse:
        agency = require_two_factor(agency=self.agency, roles=form.cleaned_data["roles"], by=self.by)
        named = ", ".join(str(Member.Role(role).label) for role in agency.two_factor_roles)
        none = _("Two-factor is no longer required.")
        return self.done(_("Two-factor is required for: %(roles)s.") % {"roles": named} if named else none, TEAM)

    def context(self) -> dict[str, object]:
        return {"crumbs": [breadcrumb(TITLE, TEAM)], "heading": _("Two-factor"), "submit": _("Save")}


class InvitationMixin(ConsoleView):
    """An action on an unanswered invitation to the team."""

    nav = TEAM
    writers = OWNERS
    http_method_names = ["post"]

    def find(self, uuid: UUID | None) -> Invitation:
        found = with_id(invitations_of(self.agency), uuid)
        if found is None:
            raise InvitationNotFound
        return found


class InvitationAgain(InvitationMixin):
    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        invitation = send_invitation_again(invitation=self.find(uuid), now=timezone.now(), by=self.by)
        return self.done(_("The invitation to %(email)s was sent again.") % {"email": invitation.email}, TEAM)


class InvitationWithdraw(InvitationMixin):
    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        invitation = self.find(uuid)
        withdraw_invitation(invitation=invitation, now=timezone.now(), by=self.by)
        return self.done(_("The invitation to %(email)s was withdrawn.") % {"email": invitation.email}, TEAM)


class MemberMixin(ConsoleView):
    """A page about one member of the team."""

    nav = TEAM
    writers = OWNERS
    member: Member

    def find(self, **ids: Any) -> None:
        found = Member.objects.filter(agency=self.agency, pk=min(ids["pk"], LARGEST_ID)).select_related("user").first()
        if found is None:
            raise MemberNotFound
        self.member = found


class MemberRole(MemberMixin, FormPage[RoleForm]):
    template_name = "agency/member_form.html"

    def make_form(self, data: Mapping[str, object] | None = None) -> RoleForm:
        return RoleForm(data, initial={"role": self.member.role})

    def save(self, form: RoleForm) -> HttpResponse:
        member = change_role(member=self.member, role=form.cleaned_data["role"], by=self.by)
        message = _("The role of %(email)s is now %(role)s.")
        return self.done(message % {"email": member.user.email, "role": member.get_role_display()}, TEAM)

    def context(self) -> dict[str, object]:
        return {
            "crumbs": [breadcrumb(TITLE, TEAM)],
            "heading": _("Role of %(email)s") % {"email": self.member.user.email},
            "submit": _("Save"),
            "roles": ROLE_DESCRIPTIONS,
        }


class MemberRemove(MemberMixin, FormPage[ConfirmationForm]):
    def make_form(self, data: Mapping[str, object] | None = None) -> ConfirmationForm:
        return ConfirmationForm(data)

    def save(self, form: ConfirmationForm) -> HttpResponse:
        email = self.member.user.email
        remove_member(member=self.member, by=self.by)
        return self.done(_("%(email)s was removed from the team.") % {"email": email}, TEAM)

    def context(self) -> dict[str, object]:
        return {
            "crumbs": [breadcrumb(TITLE, TEAM)],
            "heading": _("Remove %(email)s?") % {"email": self.member.user.email},
            "text": _("This person loses access to the console of %(agency)s at once.") % {"agency": self.agency.name},
            "submit": _("Remove from the team"),
            "danger": True,
        }
