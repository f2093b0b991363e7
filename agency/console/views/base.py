"""The base of every console page: who may open it, what their role allows, how a refusal is shown."""

from typing import Any, ClassVar, cast
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from agency.actors import Actor
from agency.console.membership import CHOSEN, CurrentMembership, current_membership, memberships_of
from agency.models import Agency, Member, User
from agency.notification_kinds import NotificationKind, kinds_for
from agency.pages.branding.host import host_agency_id
from agency.pages.forms.kept_data import kept_form_data
from agency.pages.forms.page import FormOf, FormView
from agency.pages.locale import prefer_language_of
from agency.pages.menus import written_menu
from agency.pages.notifications import unread_counter
from agency.pages.registry import StrOrPromise, console_menu
from agency.pages.second_factor import has_shown_code, lead_to_set_up
from agency.pages.signed_in import SignedInView
from agency.request_actor import user_actor
from agency.tenants import Audience

CHANGERS = frozenset(role for role in Member.Role if Member(role=role).may_change_things)
OWNERS = frozenset({Member.Role.OWNER})


def crumb(label: StrOrPromise, url_name: str, *args: object) -> tuple[StrOrPromise, str]:
    """Return one breadcrumb: its label and its address."""
    return label, reverse(url_name, args=args)


class ConsoleView(SignedInView):
    """A page of the console. Only `writers` may POST; with `writers_only` only they may open it."""

    landing_page = "console:home"
    writers: ClassVar[frozenset[str]] = CHANGERS
    writers_only: ClassVar[bool] = False

    membership: CurrentMembership

    def check_access(self, request: HttpRequest) -> HttpResponse | None:
        """Find the person's membership; a response means that they may not see the page."""
        refusal = super().check_access(request)
        if refusal:
            return refusal
        kept = kept_form_data(request)
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
            return self.keep_for_later(lead_to_set_up(request, name=membership.agency.name, back=back))
        if (request.method == "POST" or self.writers_only) and membership.member.role not in self.writers:
            raise PermissionDenied
        return self.refuse_other(membership.agency.uuid, membership.agency.name)

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

    def page(self, template: str, *, status: int = 200, **context: Any) -> HttpResponse:
        """Render a page inside the console's frame."""
        frame = {
            "area": "console",
            "frame": "pages/console/base.html",
            "hidden_fields": "pages/console/_hidden_fields.html",
            "membership": self.membership,
            "menu": written_menu("pages/console/_menu.html", console_menu, self.nav),
            "nav": self.nav,
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
