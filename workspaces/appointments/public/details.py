"""The page of a booking on which the visitor types who books."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final, Unpack
from uuid import UUID

from django import forms
from django.core import signing
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.pages.branding import in_page_language
from agency.pages.forms import EmailField, LineField, MultilineField, NameField
from workspaces.appointments.models import VisitorBooking
from workspaces.appointments.models.appointments import LONGEST_NOTE
from workspaces.appointments.public.base import PageIds, instant_in
from workspaces.appointments.public.choosing import OfferPage, ServicePage
from workspaces.appointments.public.codes import book_or_explain, times_address
from workspaces.appointments.services.availability import FreeTime
from workspaces.appointments.services.deposits import needs_deposit
from workspaces.appointments.services.mails import time_in_words
from workspaces.appointments.services.visitors import TooManyCodes, Wish, ask_for_booking, change_wish, is_verified
from workspaces.contacts.services.fields import read_phone
from workspaces.subaccounts.pages.business import validate_plain_name

SALT: Final = "appointments.public.form_time"
# Programs send a form at once. A visitor reads it first, and does not leave it open for a day.
SHORTEST: Final = timedelta(seconds=1)
LONGEST: Final = timedelta(hours=12)
TYPED: Final = ("name", "email", "phone", "note")


def signed_form_time(moment: datetime) -> str:
    """Return what a form sends to say when it was shown."""
    return signing.dumps(int(moment.timestamp()), salt=SALT)


def is_form_time_likely(text: str, *, now: datetime) -> bool:
    """Return whether a form was shown a second to twelve hours ago, by its signed time."""
    try:
        seconds = signing.loads(text[:200], salt=SALT)
    except signing.BadSignature:
        return False
    return SHORTEST <= now - datetime.fromtimestamp(seconds, tz=now.tzinfo) <= LONGEST


class DetailsForm(forms.Form):
    """What a visitor types. Nobody sees `website`; only programs fill it in."""

    name = NameField(label=gettext_lazy("Your name"), widget=forms.TextInput({"autocomplete": "name"}))
    email = EmailField(
        widget=forms.EmailInput({"autocomplete": "email", "autocapitalize": "none", "spellcheck": "false"})
    )
    phone = LineField(
        label=gettext_lazy("Phone"),
        required=False,
        max_length=40,
        widget=forms.TextInput({"autocomplete": "tel", "type": "tel"}),
    )
    note = MultilineField(
        label=gettext_lazy("Note"), required=False, max_length=LONGEST_NOTE, widget=forms.Textarea({"rows": 3})
    )
    website = forms.CharField(required=False, max_length=200)
    opened = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(
        self, data: QueryDict | None = None, *, now: datetime, initial: dict[str, str], with_note: bool = True
    ) -> None:
        self._now = now
        super().__init__(data, initial=initial)
        if not with_note:
            del self.fields["note"]

    def clean_name(self) -> str:
        return validate_plain_name(self.cleaned_data["name"])

    def clean_phone(self) -> str:
        text = self.cleaned_data["phone"]
        phone = read_phone(text) if text else None
        if text and phone is None:
            raise ValidationError(_("Write the number with its country code, such as +49 30 1234567."))
        return phone.number if phone else ""

    def clean(self) -> dict[str, object]:
        given = super().clean() or self.cleaned_data
        if given.get("website") or not is_form_time_likely(given.get("opened", ""), now=self._now):
            raise ValidationError(_("This could not be sent. Please send it once more."))
        return given

    @property
    def shown(self) -> list[forms.BoundField]:
        return [self[name] for name in TYPED if name in self.fields]

    @property
    def form_time(self) -> str:
        return signed_form_time(self._now)


def keep_wish(page: OfferPage, wish: Wish) -> VisitorBooking:
    """Change what was kept, if it is verified; else keep it anew, and send a code. Raises `TooManyCodes`."""
    changed = change_wish(booking=page.kept, wish=wish, now=page.now) if page.kept else None
    return changed or ask_for_booking(workspace=page.workspace, slug=page.booking_page.slug, wish=wish, now=page.now)


def typed_before(kept: VisitorBooking | None) -> dict[str, str]:
    return {name: getattr(kept, name) for name in TYPED} if kept else {}


def at_business(page: OfferPage, starts_at: datetime, ends_at: datetime) -> str:
    """Return a time by the business's clock, if the visitor has chosen another one."""
    zone = page.workspace.timezone
    return "" if zone == page.zone else time_in_words(starts_at, ends_at, zone)


class Details(ServicePage):
    """Asks who books. Sending it keeps what was typed, and leads to the code; a verified visitor books at once."""

    starts_at: datetime

    def find(self, **ids: Unpack[PageIds]) -> None:
        super().find(**ids)
        starts_at = instant_in(self.request.GET.get("at", ""))
        if starts_at is None:
            raise Http404
        self.starts_at = starts_at

    def get(self, request: HttpRequest, slug: str, service: UUID | None) -> HttpResponse:
        free = self.choices.at(self.starts_at)
        if free is None:
            return redirect(self._times(self.kept))
        return self._show(free, DetailsForm(now=self.now, initial=typed_before(self.kept)))

    def post(self, request: HttpRequest, slug: str, service: UUID | None) -> HttpResponse:
        form = DetailsForm(request.POST, now=self.now, initial={})
        free = self.choices.at(self.starts_at)
        if not form.is_valid():
            return self._show(free or self._length_of_service(), form, status=422)
        wish = self._wish(form.cleaned_data)
        try:
            booking = keep_wish(self, wish)
        except TooManyCodes as refusal:
            form.add_error(None, in_page_language(refusal.message))
            return self._show(free or self._length_of_service(), form, status=429)
        if free is None:
            return redirect(self._times(booking))
        if is_verified(booking, now=self.now):
            return book_or_explain(self, booking)
        return redirect("book:code", slug, booking.uuid)

    def _wish(self, given: Mapping[str, str]) -> Wish:
        return Wish(
            service=self.service,
            staff=self.staff,
            starts_at=self.starts_at,
            timezone=self.zone,
            language=self.language,
            name=given["name"],
            email=given["email"],
            phone=given["phone"],
            note=given["note"],
        )

    def _length_of_service(self) -> FreeTime:
        length = timedelta(minutes=self.service.duration_minutes or 0)
        return FreeTime(self.starts_at, self.starts_at + length, ())

    def _times(self, kept: VisitorBooking | None) -> str:
        return times_address(self, kept, staff=self.staff.uuid if self.staff else "", day=self.starts_at)

    def _show(self, free: FreeTime, form: DetailsForm, *, status: int = 200) -> HttpResponse:
        return self.page(
            "appointments/public/details.html",
            status=status,
            form=form,
            when=time_in_words(free.starts_at, free.ends_at, self.zone),
            business_when=at_business(self, free.starts_at, free.ends_at),
            deposit=self.service.deposit if needs_deposit(self.service, self.workspace) else None,
        )
