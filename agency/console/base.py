"""The base of every console page: the agency chosen, who may open the page, how a refusal is shown."""

from dataclasses import dataclass
from typing import ClassVar, cast
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from agency.actors import Actor
from agency.models import Agency, Member, User
from agency.notification_kinds import WRITE_ROLES, NotificationKind, kinds_for
from agency.pages.branding import host_agency_id, prefer_language_of
from agency.pages.form_drafts import latest_form_draft
from agency.pages.help import CONSOLE, help_url
from agency.pages.notifications import unread_counter
from agency.pages.registry import StrOrPromise, console_menu, render_menu
from agency.pages.views import FormOf, FormView, SignedInView, has_shown_code, two_factor_required_page
from agency.request_actor import user_actor
from agency.services.members import names_of_owners
from agency.tenants import Audience

CHOSEN = "agency"


@dataclass(frozen=True, slots=True)
class CurrentMembership:
    """A person at one agency's console; `others` are the same person's memberships elsewhere."""

    user: User
    member: Member
    others: list[Member]

    @property
    def agency(self) -> Agency:
        return self.member.agency

    @property
    def is_owner(self) -> bool:
        return self.member.role == Member.Role.OWNER


def memberships_of(user: User, agency_id: int | None) -> list[Member]:
    """Return a person's memberships with their agencies, ordered by name; with `agency_id` only the one there."""
    return list(Member.objects.of_person(user, agency_id).select_related("agency").order_by("agency__name_key", "id"))


def current_membership(request: HttpRequest, user: User, memberships: list[Member]) -> CurrentMembership | None:
    """Return the membership that the session names, else the one chosen last, else the oldest.

    None if the person is no member of the agency that the session names.
    """
    chosen = request.session.get(CHOSEN)
    if chosen is None and memberships:
        last = (one for one in memberships if one.agency.uuid == user.chosen_agency)
        first = next(last, None) or min(memberships, key=lambda one: (one.created_at, one.pk))
        chosen = request.session[CHOSEN] = str(first.agency.uuid)
    member = next((one for one in memberships if str(one.agency.uuid) == chosen), None)
    return CurrentMembership(user, member, [one for one in memberships if one != member]) if member else None


OWNERS = frozenset({Member.Role.OWNER})


def breadcrumb(label: StrOrPromise, url_name: str, *args: object) -> tuple[StrOrPromise, str]:
    """Return one breadcrumb: its label and its address."""
    return label, reverse(url_name, args=args)


class ConsoleView(SignedInView):
    """A page of the console. Only `writers` may POST; with `writers_only` only they may open it."""

    landing_page = "console:home"
    writers: ClassVar[frozenset[str]] = WRITE_ROLES
    writers_only: ClassVar[bool] = False

    membership: CurrentMembership

    def check_access(self, request: HttpRequest) -> HttpResponse | None:
        """Find the person's membership; a response means that they may not see the page."""
        refusal = super().check_access(request)
        if refusal:
            return refusal
        kept = latest_form_draft(request)
        if kept and kept.made_for:
            request.session[CHOSEN] = kept.made_for
        user = cast(User, request.user)
        memberships = memberships_of(user, host_agency_id(request))
        membership = current_membership(request, user, memberships)
        if membership is None:
            return render(request, "agency/no_membership.html", {"memberships": memberships}, status=403)
        self.membership = membership
        prefer_language_of(request, membership.agency)
        if not membership.agency.is_active:
            return render(request, "agency/suspended.html", {"membership": membership}, status=403)
        if membership.member.role in membership.agency.two_factor_roles and not has_shown_code(request):
            back = self.address_of_form(request)
            return self.keep_for_later(two_factor_required_page(request, name=membership.agency.name, back=back))
        if (request.method == "POST" or self.writers_only) and membership.member.role not in self.writers:
            return self.refused()
        return self.refuse_other(membership.agency.uuid, membership.agency.name)

    def refused(self) -> HttpResponse:
        """Say which roles may do this, and whom to ask."""
        return self.page(
            "pages/console/refused.html",
            status=403,
            allowed=[label for role, label in Member.Role.choices if role in self.writers],
            owners=names_of_owners(self.agency),
        )

    @property
    def agency(self) -> Agency:
        return self.membership.agency

    @property
    def area_id(self) -> UUID:
        return self.agency.uuid

    @property
    def by(self) -> Actor:
        return user_actor(self.request, self.membership.user)

    @property
    def may_write(self) -> bool:
        return self.membership.member.role in self.writers

    @property
    def area_notification_kinds(self) -> list[NotificationKind]:
        """The kinds of notifications that this person's role receives."""
        return kinds_for(Audience.AGENCY, self.membership.member.role)

    def page(self, template: str, *, status: int = 200, **context: object) -> HttpResponse:
        """Render a page inside the console's frame."""
        frame = {
            "area": "console",
            "frame": "pages/console/base.html",
            "hidden_fields": "pages/console/_hidden_fields.html",
            "membership": self.membership,
            "menu": render_menu("pages/console/_menu.html", console_menu, self.nav),
            "nav": self.nav,
            "help_url": help_url(CONSOLE, self.request, self.nav),
            "unread_count": unread_counter(self.membership.user, self.area_id, self.area_notification_kinds),
            "may_write": self.may_write,
            "is_answer": self.request.method == "POST",
            "form_to_send_again": self.form_to_send_again(),
        }
        return render(self.request, template, {**frame, **context}, status=status)


class FormPage(FormView[FormOf], ConsoleView):
    """A console page that is a form."""

    template_name: ClassVar[str] = "pages/console/form.html"
    writers_only: ClassVar[bool] = True
