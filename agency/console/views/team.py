"""The agency's team, which its owners manage."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.console.forms import ROLE_DESCRIPTIONS, InvitationForm, RoleForm
from agency.console.views.base import OWNERS, ConsoleView, FormPage, crumb
from agency.models import Member
from agency.pages.forms import Confirmation
from agency.pages.lists import paged
from agency.services import MemberNotFound, add_member, change_role, remove_member

TEAM = "console:team"
LARGEST_ID = 2**63 - 1
TITLE = gettext_lazy("Team")


class Team(ConsoleView):
    nav = TEAM
    writers = OWNERS

    def get(self, request: HttpRequest) -> HttpResponse:
        members = Member.objects.filter(agency=self.agency).select_related("user").order_by("created_at", "id")
        rows, pages = paged(request, members)
        return self.page("agency/team.html", rows=rows, pages=pages)


class Invite(FormPage[InvitationForm]):
    nav = TEAM
    creates = True
    writers = OWNERS
    template_name = "agency/member_form.html"

    def make_form(self, data: Any = None) -> InvitationForm:
        return InvitationForm(data, initial={"role": Member.Role.VIEWER})

    def save(self, form: InvitationForm) -> HttpResponse:
        member = add_member(agency=self.agency, by=self.by, **form.cleaned_data)
        message = _(
            "%(email)s is in the team. A person new to the service gets an e-mail with a link to set a password."
        )
        return self.done(message % {"email": member.user.email}, TEAM)

    def context(self) -> dict[str, Any]:
        heading = _("Invite a person")
        return {"crumbs": [crumb(TITLE, TEAM)], "heading": heading, "submit": _("Invite"), "roles": ROLE_DESCRIPTIONS}


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
