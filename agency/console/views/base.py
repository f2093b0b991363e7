"""The base of every console page: who may come in, what their role allows, how a refusal reads."""

from typing import Any, ClassVar, cast

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from agency.actors import Actor
from agency.console.membership import CHOSEN, CurrentMembership, current_membership, memberships_of
from agency.models import Agency, Member, User
from agency.pages.form_page import FormOf, FormView
from agency.pages.kept_form_data import kept_form_data
from agency.pages.registry import StrOrPromise, console_menu, in_sections
from agency.pages.signed_in import SignedInView
from agency.request_actor import user_actor

CHANGERS = frozenset(role for role in Member.Role if Member(role=role).may_change_things)
OWNERS = frozenset({Member.Role.OWNER})


def crumb(label: StrOrPromise, url_name: str, *args: object) -> tuple[StrOrPromise, str]:
    """Give one step of the way back to where a page was reached from."""
    return label, reverse(url_name, args=args)


class ConsoleView(SignedInView):
    """A page of the console. POST is for `writers` alone; with `writers_only` so is looking at it."""

    landing_page = "console:home"
    writers: ClassVar[frozenset[str]] = CHANGERS
    writers_only: ClassVar[bool] = False

    membership: CurrentMembership

    def check_access(self, request: HttpRequest) -> HttpResponse | None:
        """Find the person's membership; an answer means that they do not see the page."""
        refusal = super().check_access(request)
        if refusal:
            return refusal
        kept = kept_form_data(request)
        if kept and kept.made_for:
            request.session[CHOSEN] = kept.made_for
        user = cast(User, request.user)
        memberships = memberships_of(user)
        membership = current_membership(request, user, memberships)
        if membership is None:
            return render(request, "agency/no_membership.html", {"memberships": memberships}, status=403)
        self.membership = membership
        if not membership.agency.is_active:
            return render(request, "agency/suspended.html", {"membership": membership}, status=403)
        if (request.method == "POST" or self.writers_only) and membership.member.role not in self.writers:
            raise PermissionDenied
        return self.refuse_other(membership.agency.uuid, membership.agency.name)

    @property
    def agency(self) -> Agency:
        return self.membership.agency

    @property
    def by(self) -> Actor:
        return user_actor(self.request, self.membership.user)

    @property
    def may_write(self) -> bool:
        return self.membership.member.role in self.writers

    def page(self, template: str, *, status: int = 200, **context: Any) -> HttpResponse:
        """Render a page inside the console's frame."""
        frame = {
            "membership": self.membership,
            "menu": in_sections(console_menu),
            "nav": self.nav,
            "may_write": self.may_write,
            "is_answer": self.request.method == "POST",
        }
        return render(self.request, template, {**frame, **context}, status=status)


class FormPage(FormView[FormOf], ConsoleView):
    """A page of the console that is a form."""

    template_name: ClassVar[str] = "pages/console/form.html"
    writers_only: ClassVar[bool] = True
