"""The base of every console page: who may come in, what their role allows, how a refusal reads."""

from typing import Any, ClassVar, Generic, TypeVar, cast

from django import forms
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from agency.actors import Actor
from agency.console.forms import blame
from agency.console.navigation import Words, menu
from agency.console.seats import Seat, memberships_of, take_seat
from agency.models import Agency, Member, User
from agency.visitors import visitor
from config.api.clients import client_address
from config.errors import DomainError, NotFound
from config.signed_in import SignedInView

CHANGERS = frozenset(role for role in Member.Role if Member(role=role).may_change_things)
OWNERS = frozenset({Member.Role.OWNER})
FormOf = TypeVar("FormOf", bound=forms.BaseForm)


def crumb(label: Words, url_name: str, *args: object) -> tuple[Words, str]:
    """Give one step of the way back to where a page was reached from."""
    return label, reverse(url_name, args=args)


class ConsoleView(SignedInView):
    """A page of the console. POST is for `writers` alone; with `writers_only` so is looking at it."""

    home = "console:home"
    writers: ClassVar[frozenset[str]] = CHANGERS
    writers_only: ClassVar[bool] = False

    seat: Seat

    def admit(self, request: HttpRequest) -> HttpResponse | None:
        """Find the person's seat; an answer means that they stay outside."""
        outside = super().admit(request)
        if outside:
            return outside
        user = cast(User, request.user)
        memberships = memberships_of(user)
        seat = take_seat(request, user, memberships)
        if seat is None:
            return render(request, "console/no_seat.html", {"memberships": memberships}, status=403)
        self.seat = seat
        if not seat.agency.is_active:
            return render(request, "console/suspended.html", {"seat": seat}, status=403)
        if (request.method == "POST" or self.writers_only) and seat.member.role not in self.writers:
            raise PermissionDenied
        return self.refuse_other(seat.agency.uuid, seat.agency.name)

    @property
    def agency(self) -> Agency:
        return self.seat.agency

    @property
    def by(self) -> Actor:
        return visitor(self.seat.user, client_address(self.request))

    @property
    def may_write(self) -> bool:
        return self.seat.member.role in self.writers

    def page(self, template: str, *, status: int = 200, **context: Any) -> HttpResponse:
        """Render a page inside the console's frame."""
        frame = {"seat": self.seat, "menu": menu(), "nav": self.nav, "may_write": self.may_write}
        return render(self.request, template, {**frame, **context}, status=status)


class FormPage(ConsoleView, Generic[FormOf]):
    """A page that is a form: `make_form` makes it, `save` calls the service, a refusal becomes the form's error."""

    template_name: ClassVar[str] = "console/form.html"
    writers_only: ClassVar[bool] = True

    def make_form(self, data: Any = None) -> FormOf:
        """Make the page's form, bound to what was sent if there is anything. Every page has its own."""
        raise NotImplementedError

    def save(self, form: FormOf) -> HttpResponse:
        """Call the service with the valid form, and answer. Every page has its own."""
        raise NotImplementedError

    def words(self) -> dict[str, Any]:
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
                blame(form, error)
        return self.show(form, status=422)

    def show(self, form: FormOf, *, status: int = 200) -> HttpResponse:
        return self.page(self.template_name, form=form, status=status, **self.words())
