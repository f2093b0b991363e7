"""The people of a workspace. Its owner invites and removes them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar
from uuid import UUID

from django import forms
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency import limits
from agency.models import Invitation, User
from agency.pages.forms import ConfirmationForm, EmailField, LineField
from agency.pages.pagination import count_capped, read_pages, with_id
from agency.pages.registry import StrOrPromise
from agency.pages.tables import Column, Filter, ListPage, Table, TableState
from agency.services import InvitationNotFound, withdraw_invitation
from agency.services.invitations import MOST_WAITING
from config.api.requests import is_storable
from workspaces.subaccounts.dashboard.base import OWNER_ROLES, DashboardForm, DashboardView
from workspaces.subaccounts.models import WorkspaceMember
from workspaces.subaccounts.services import (
    WorkspaceMemberNotFound,
    invite_workspace_member,
    remove_workspace_member,
    resend_member_invitation,
    transfer_ownership,
    used_seats,
    waiting_invitations,
)

PEOPLE = "app:people"
TITLE = gettext_lazy("People")
LONGEST_NAME = 120
FORM = "pages/dashboard/form.html"


class PersonForm(forms.Form):
    """The person to invite into the workspace."""

    name = LineField(
        label=gettext_lazy("Name"), max_length=LONGEST_NAME, widget=forms.TextInput({"autocomplete": "off"})
    )
    email = EmailField()


class PeoplePage(DashboardView):
    """A page about the people of the workspace. All of them may open it; only the owner may change something."""

    nav = PEOPLE
    writers = OWNER_ROLES

    def crumbs(self) -> list[tuple[StrOrPromise, str]]:
        return [(TITLE, reverse(PEOPLE))]


@dataclass(frozen=True, slots=True)
class Person:
    """A row of the list: a member with the `uuid` of the membership, or the owner, who has none."""

    user: User
    uuid: UUID | None = None
    since: datetime | None = None


class People(ListPage, PeoplePage):
    """Lists the owner and then the members. The search matches a part of the name or the e-mail address."""

    table = Table(
        caption=gettext_lazy("People"),
        columns=(
            Column(name="person", label=gettext_lazy("Person"), order=("user__email", "id")),
            Column(name="role", label=gettext_lazy("Role")),
            Column(name="since", label=gettext_lazy("Here since"), order=("created_at", "id")),
            Column(name="actions", label=gettext_lazy("Actions"), is_unseen=True),
        ),
        filters=(Filter(name="search", label=gettext_lazy("Search"), placeholder=gettext_lazy("Name or e-mail")),),
        sort="since",
    )

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.list_page(
            "subaccounts/dashboard/people.html",
            self.fetch_people(self.read_table()),
            invitations=waiting_invitations(self.workspace).order_by("created_at", "id")[:MOST_WAITING],
            seats=used_seats(self.workspace, timezone.now()),
            most_seats=limits.value(self.workspace.limits, "team_members"),
        )

    def fetch_people(self, state: TableState) -> TableState:
        """Fetch the requested page of the list. The owner is the first row of the first page, whatever the order."""
        search, owner = state.values["search"], self.workspace.owner
        has_owner = not self.workspace.owner_pending_since and search.lower() in f"{owner.name} {owner.email}".lower()
        before = [Person(owner)] if has_owner else []
        members = self._matching(self.workspace.members.select_related("user"), search)
        total, is_capped = count_capped(members)
        pages = read_pages(self.request, total + len(before), is_capped)
        first, last = pages.offset - len(before), pages.offset + pages.size - len(before)
        found = [
            Person(one.user, one.uuid, one.created_at) for one in members.order_by(*state.order)[max(0, first) : last]
        ]
        return state.show([*before, *found] if pages.number == 1 else found, pages)

    def _matching(self, members: "QuerySet[WorkspaceMember]", search: str) -> "QuerySet[WorkspaceMember]":
        if not search:
            return members
        if not is_storable(search):
            return members.none()
        return members.filter(Q(user__email__icontains=search) | Q(user__name__icontains=search))


class Invite(PeoplePage, DashboardForm[PersonForm]):
    template_name: ClassVar[str] = FORM
    creates = True
    writers_only = True

    def make_form(self, data: Mapping[str, object] | None = None) -> PersonForm:
        return PersonForm(data)

    def save(self, form: PersonForm) -> HttpResponse:
        invitation = invite_workspace_member(
            workspace=self.workspace, now=timezone.now(), by=self.by, **form.cleaned_data
        )
        message = _("%(email)s is invited, and can work here as soon as the invitation is accepted.")
        return self.done(message % {"email": invitation.email}, PEOPLE)

    def context(self) -> dict[str, object]:
        text = _("A member can do everything here except manage people, API keys and webhooks.")
        return {"crumbs": self.crumbs(), "heading": _("Invite a person"), "text": text, "submit": _("Invite")}


class InvitationDetailView(PeoplePage):
    """An action on an unanswered invitation."""

    http_method_names = ["post"]

    def find(self, uuid: UUID | None) -> Invitation:
        found = with_id(waiting_invitations(self.workspace), uuid)
        if found is None:
            raise InvitationNotFound
        return found


class InvitationAgain(InvitationDetailView):
    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        invitation = resend_member_invitation(
            workspace=self.workspace, invitation=self.find(uuid), now=timezone.now(), by=self.by
        )
        return self.done(_("%(email)s is invited again.") % {"email": invitation.email}, PEOPLE)


class InvitationWithdraw(InvitationDetailView):
    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        invitation = self.find(uuid)
        withdraw_invitation(invitation=invitation, now=timezone.now(), by=self.by)
        return self.done(_("The invitation to %(email)s was withdrawn.") % {"email": invitation.email}, PEOPLE)


class MemberDetailView(PeoplePage, DashboardForm[ConfirmationForm]):
    """An action on one member, which the user has to confirm."""

    template_name: ClassVar[str] = FORM
    writers_only = True
    member: WorkspaceMember

    def find(self, **ids: UUID | None) -> None:
        found = with_id(self.workspace.members.select_related("user", "workspace"), ids["uuid"])
        if found is None:
            raise WorkspaceMemberNotFound
        self.member = found

    def make_form(self, data: Mapping[str, object] | None = None) -> ConfirmationForm:
        return ConfirmationForm(data)


class MemberRemove(MemberDetailView):
    def save(self, form: ConfirmationForm) -> HttpResponse:
        remove_workspace_member(member=self.member, now=timezone.now(), by=self.by)
        return self.done(_("%(email)s was removed.") % {"email": self.member.user.email}, PEOPLE)

    def context(self) -> dict[str, object]:
        names = {"email": self.member.user.email, "workspace": self.workspace.name}
        return {
            "crumbs": self.crumbs(),
            "heading": _("Remove %(email)s?") % names,
            "text": _(
                "This person loses access to %(workspace)s at once. Their conversations are no longer "
                "assigned to anybody."
            )
            % names,
            "submit": _("Remove"),
            "danger": True,
        }


class OwnershipHandOver(MemberDetailView):
    def save(self, form: ConfirmationForm) -> HttpResponse:
        transfer_ownership(member=self.member, now=timezone.now(), by=self.by)
        return self.done(_("%(email)s is the owner now, and you are a member.") % self._names(), PEOPLE)

    def context(self) -> dict[str, object]:
        return {
            "crumbs": self.crumbs(),
            "heading": _("Make %(email)s the owner?") % self._names(),
            "text": _("You stay as a member. From then on only the new owner manages people, API keys and webhooks."),
            "submit": _("Hand the workspace over"),
            "danger": True,
        }

    def _names(self) -> dict[str, str]:
        return {"email": self.member.user.email}
