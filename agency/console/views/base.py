"""The base of every console page: who may come in, what their role allows, how a refusal reads."""

from typing import Any, ClassVar, Generic, TypeVar, cast

from django import forms
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from agency.actors import Actor
from agency.console.membership import CurrentMembership, current_membership, memberships_of
from agency.models import Agency, Member, User
from agency.pages.forms import add_refusal
from agency.pages.registry import StrOrPromise, console_menu, in_sections
from agency.pages.signed_in import SignedInView
from agency.request_actor import user_actor
from config.errors import DomainError, NotFound

CHANGERS = frozenset(role for role in Member.Role if Member(role=role).may_change_things)
OWNERS = frozenset({Member.Role.OWNER})
FormOf = TypeVar("FormOf", bound=forms.BaseForm)


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
        }
        return render(self.request, template, {**frame, **context}, status=status)


class FormPage(ConsoleView, Generic[FormOf]):
    """A page that is a form: `make_form` makes it, `save` calls the service, a refusal becomes the form's error."""

    template_name: ClassVar[str] = "pages/console/form.html"
    writers_only: ClassVar[bool] = True

    def make_form(self, data: Any = None) -> FormOf:
        """Make the page's form, bound to what was sent if there is anything. Every page has its own."""
        raise NotImplementedError

    def save(self, form: FormOf) -> HttpResponse:
        """Call the service with the valid form, and answer. Every page has its own."""
        raise NotImplementedError

    def context(self) -> dict[str, Any]:
        """Give the template what it needs beside the form: `heading`, `back`, `submit` and such."""
        return {}

    def find(self, **ids: Any) -> None:
        """Look up what the address names, or raise `NotFound`."""

    def get(self, request: HttpRequest, **ids: Any) -> HttpResponse:
        self.find(**ids)
        return self.show(self.make_form())

    def post(self, request: HttpRequest, **ids: Any) -> HttpResponse:
        self.find(**ids)
        form = self.make_form(request.POST)
        if form.is_valid():
            try:
                return self.save(form)
            except NotFound:
                raise
            except DomainError as error:
                add_refusal(form, error)
        return self.show(form, status=422)

    def show(self, form: FormOf, *, status: int = 200) -> HttpResponse:
        return self.page(self.template_name, form=form, status=status, **self.context())
