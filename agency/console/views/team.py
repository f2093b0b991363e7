"""The agency's team, which its owners manage."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.console.forms import ROLE_DESCRIPTIONS, InvitationForm, RoleForm
from agency.console.views.base import OWNERS, ConsoleView, FormPage, crumb
from agency.models import Agency, Invitation, Member
from agency.pages.forms import Confirmation
from agency.pages.lists import paged, with_id
from agency.services import (
    InvitationNotFound,
    MemberNotFound,
    change_role,
    invite_member,
    remove_member,
    send_invitation_again,
    withdraw_invitation,
)
from agency.services.people.invitations import MOST_WAITING

TEAM = "console:team"
LARGEST_ID = 2**63 - 1
TITLE = gettext_lazy("Team")


class Team(ConsoleView):
    nav = TEAM
    writers = OWNERS

    def get(self, request: HttpRequest) -> HttpResponse:
        members = Member.objects.filter(agency=self.agency).select_related("user").order_by("created_at", "id")
        rows, pages = paged(request, members)
        waiting = invitations_of(self.agency).order_by("created_at", "id")
        return self.page("agency/team.html", rows=rows, pages=pages, invitations=waiting[:MOST_WAITING])


def invitations_of(agency: Agency) -> "QuerySet[Invitation]":
    """Give the invitations to this agency's team that nobody has answered, expired ones too."""
    return Invitation.objects.filter(agency=agency, workspace_uuid=None, status=Invitation.Status.OPEN)


class Invite(FormPage[InvitationForm]):
    nav = TEAM
    creates = True
    writers = OWNERS
    template_name = "agency/member_form.html"

    def make_form(self, data: Any = None) -> InvitationForm:
        return InvitationForm(data, initial={"role": Member.Role.VIEWER})

    def save(self, form: InvitationForm) -> HttpResponse:
        invitation = invite_member(agency=self.agency, now=timezone.now(), by=self.by, **form.cleaned_data)
        message = _("%(email)s is invited, and is in the team as soon as the invitation is accepted.")
        return self.done(message % {"email": invitation.email}, TEAM)

    def context(self) -> dict[str, Any]:
        heading = _("Invite a person")
        return {"crumbs": [crumb(TITLE, TEAM)], "heading": heading, "submit": _("Invite"), "roles": ROLE_DESCRIPTIONS}


class OneInvitation(ConsoleView):
    """What is done with an invitation to the team that nobody has answered."""

    nav = TEAM
    writers = OWNERS
    http_method_names = ["post"]

    def find(self, uuid: UUID | None) -> Invitation:
        found = with_id(invitations_of(self.agency), uuid)
        if found is None:
            raise InvitationNotFound
        return found


class InvitationAgain(OneInvitation):
    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        invitation = send_invitation_again(invitation=self.find(uuid), now=timezone.now(), by=self.by)
        return self.done(_("%(email)s is invited again.") % {"email": invitation.email}, TEAM)


class InvitationWithdraw(OneInvitation):
    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        invitation = self.find(uuid)
        withdraw_invitation(invitation=invitation, now=timezone.now(), by=self.by)
        return self.done(_("The invitation to %(email)s was withdrawn.") % {"email": invitation.email}, TEAM)


class OneMember(ConsoleView):
    """A page about one member of the team."""

    nav = TEAM
    writers = OWNERS
    member: Member

    def find(self, **ids: Any) -> None:
        found = Member.objects.filter(agency=self.agency, pk=min(ids["pk"], LARGEST_ID)).select_related("user").first()
        if found is None:
            raise MemberNotFound
        self.member = found


class MemberRole(OneMember, FormPage[RoleForm]):
    template_name = "agency/member_form.html"

    def make_form(self, data: Any = None) -> RoleForm:
        return RoleForm(data, initial={"role": self.member.role})

    def save(self, form: RoleForm) -> HttpResponse:
        member = change_role(member=self.member, role=form.cleaned_data["role"], by=self.by)
        message = _("%(email)s is now: %(role)s.")
        return self.done(message % {"email": member.user.email, "role": member.get_role_display()}, TEAM)

    def context(self) -> dict[str, Any]:
        return {
            "crumbs": [crumb(TITLE, TEAM)],
            "heading": _("Role of %(email)s") % {"email": self.member.user.email},
            "submit": _("Save"),
            "roles": ROLE_DESCRIPTIONS,
        }


class MemberRemove(OneMember, FormPage[Confirmation]):
    def make_form(self, data: Any = None) -> Confirmation:
        return Confirmation(data)

    def save(self, form: Confirmation) -> HttpResponse:
        email = self.member.user.email
        remove_member(member=self.member, by=self.by)
        return self.done(_("%(email)s was removed from the team.") % {"email": email}, TEAM)

    def context(self) -> dict[str, Any]:
        return {
            "crumbs": [crumb(TITLE, TEAM)],
            "heading": _("Remove %(email)s?") % {"email": self.member.user.email},
            "text": _("The console of %(agency)s is closed to this person from the next page on.")
            % {"agency": self.agency.name},
            "submit": _("Remove from the team"),
            "danger": True,
        }
