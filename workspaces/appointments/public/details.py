"""The last pages of a booking: what the visitor types, and the code that shows whose the e-mail address is."""

from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django import forms
from django.core import signing
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.pages.branding import in_page_language
from agency.pages.forms import EmailField, LineField, MultilineField, NameField
from config.errors import DomainError
from workspaces.appointments.models import VisitorBooking
from workspaces.appointments.models.appointments import LONGEST_NOTE
from workspaces.appointments.public.base import MESSAGE, WorkspacePage, instant_as_text, instant_in, query
from workspaces.appointments.public.choosing import ServicePage
from workspaces.appointments.public.deposits import address_of_deposit, pay_deposit
from workspaces.appointments.services.availability import FreeTime
from workspaces.appointments.services.booking import TimeTaken
from workspaces.appointments.services.deposits import hold_visit, invoice_of, needs_deposit
from workspaces.appointments.services.mails import CODE_DIGITS, time_in_words
from workspaces.appointments.services.visitors import (
    CodeEnded,
    TooManyCodes,
    Wish,
    WrongCode,
    ask_for_booking,
    book_visit,
    change_wish,
    check_code,
    is_verified,
    kept_booking,
)
from workspaces.contacts.services.fields import read_phone
from workspaces.finance.services.accounts import PaymentsUnavailable
from workspaces.finance.services.checkouts import CheckoutBeingPaid, NothingToPay
from workspaces.subaccounts.pages.business import validate_plain_name

SALT: Final = "appointments.public.form_time"
# Programs send a form at once. A visitor reads it first, and does not leave it open for a day.
SHORTEST: Final = timedelta(seconds=1)
LONGEST: Final = timedelta(hours=12)


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

    def __init__(self, data: Any = None, *, now: datetime, initial: dict[str, Any]) -> None:
        self._now = now
        super().__init__(data, initial=initial)

    def clean_name(self) -> str:
        return validate_plain_name(self.cleaned_data["name"])

    def clean_phone(self) -> str:
        text = self.cleaned_data["phone"]
        phone = read_phone(text) if text else None
        if text and phone is None:
            raise ValidationError(_("Write the number with its country code, such as +49 30 1234567."))
        return phone.number if phone else ""

    def clean(self) -> dict[str, Any]:
        given = super().clean() or self.cleaned_data
        if given.get("website") or not is_form_time_likely(given.get("opened", ""), now=self._now):
            raise ValidationError(_("This could not be sent. Please send it once more."))
        return given

    @property
    def shown(self) -> list[forms.BoundField]:
        return [self[name] for name in ("name", "email", "phone", "note")]

    @property
    def form_time(self) -> str:
        return signed_form_time(self._now)


class Details(ServicePage):
    """Asks who books. Sending it keeps what was typed, and leads to the code; a verified visitor books at once."""

    starts_at: datetime

    def find(self, **ids: Any) -> None:
        super().find(**ids)
        starts_at = instant_in(self.request.GET.get("at", ""))
        if starts_at is None:
            raise Http404
        self.starts_at = starts_at

    def get(self, request: HttpRequest, slug: str, service: UUID | None) -> HttpResponse:
        free = self.choices.at(self.starts_at)
        if free is None:
            return redirect(self._times(self.kept))
        return self._show(free, DetailsForm(now=self.now, initial=self._typed_before()))

    def post(self, request: HttpRequest, slug: str, service: UUID | None) -> HttpResponse:
        form = DetailsForm(request.POST, now=self.now, initial={})
        free = self.choices.at(self.starts_at)
        if not form.is_valid():
            return self._show(free or self._length_of_service(), form, status=422)
        wish = self._wish(form.cleaned_data)
        try:
            booking = self._keep(wish)
        except TooManyCodes as refusal:
            form.add_error(None, in_page_language(refusal.message))
            return self._show(free or self._length_of_service(), form, status=429)
        if free is None:
            return redirect(self._times(booking))
        if is_verified(booking, now=self.now):
            return book_or_explain(self, booking)
        return redirect("book:code", slug, booking.uuid)

    def _keep(self, wish: Wish) -> VisitorBooking:
        """Change what was kept, if it is verified; else keep it anew, and send a code."""
        changed = change_wish(booking=self.kept, wish=wish, now=self.now) if self.kept else None
        return changed or ask_for_booking(
            workspace=self.workspace, slug=self.booking_page.slug, wish=wish, now=self.now
        )

    def _wish(self, given: dict[str, Any]) -> Wish:
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

    def _typed_before(self) -> dict[str, Any]:
        if self.kept is None:
            return {}
        return {name: getattr(self.kept, name) for name in ("name", "email", "phone", "note")}

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
            business_when=self._at_business(free),
            deposit=self.service.deposit if needs_deposit(self.service, self.workspace) else None,
            instant=instant_as_text(self.starts_at),
        )

    def _at_business(self, free: FreeTime) -> str:
        """Return the time by the business's clock, if the visitor has chosen another one."""
        zone = self.workspace.timezone
        return "" if zone == self.zone else time_in_words(free.starts_at, free.ends_at, zone)


def times_address(page: WorkspacePage, kept: VisitorBooking | None, *, staff: object, day: datetime) -> str:
    """Return where a visitor chooses another time, on a day and the days after it. What was typed is kept."""
    service = kept.service.uuid if kept else page.kwargs["service"]
    day_there = page.local(day).date().isoformat()
    asked = query(staff=staff, zone=page.zone, week=day_there, taken="1", kept=kept.uuid if kept else "")
    return f"{reverse('book:times', args=[page.kwargs['slug'], service])}?{asked}"


def book_or_explain(page: WorkspacePage, booking: VisitorBooking) -> HttpResponse:
    """Book for a verified visitor, or hold the time and lead to the payment of the deposit.

    A taken time leads back to the times, and another refusal is said on the page.
    """
    try:
        if booking.hold is not None or needs_deposit(booking.service, page.workspace):
            return _hold_and_pay(page, booking)
        appointment = book_visit(booking=booking, now=page.now, by=page.by)
    except TimeTaken:
        staff = booking.staff.uuid if booking.staff else ""
        return redirect(times_address(page, booking, staff=staff, day=booking.starts_at))
    except DomainError as refusal:
        message = in_page_language(refusal.message)
        return page.page(MESSAGE, status=409, heading=_("Not booked"), message=message, is_refusal=True)
    return redirect(f"{reverse('book:manage', args=[appointment.token])}?booked=1")


def _hold_and_pay(page: WorkspacePage, booking: VisitorBooking) -> HttpResponse:
    """Hold the time, and send the visitor to the payment. If that is away, the deposit's page offers it again."""
    held = hold_visit(booking=booking, now=page.now, by=page.by)
    invoice = invoice_of(held.hold) if held.hold else None
    try:
        if invoice is not None:
            return pay_deposit(page, held, invoice)
    except (PaymentsUnavailable, NothingToPay, CheckoutBeingPaid):
        pass
    return redirect(address_of_deposit(page, held))


class CodeForm(forms.Form):
    code = LineField(
        label=gettext_lazy("Code"),
        max_length=20,
        widget=forms.TextInput({"autocomplete": "one-time-code", "inputmode": "numeric"}),
    )

    def clean_code(self) -> str:
        code = "".join(self.cleaned_data["code"].split())
        if len(code) != CODE_DIGITS or not code.isascii() or not code.isdigit():
            raise ValidationError(_("The code has six digits."))
        return code


class Code(WorkspacePage):
    """Asks for the code from the e-mail. The right one books the time."""

    booking: VisitorBooking

    def find(self, **ids: Any) -> None:
        super().find(**ids)
        found = kept_booking(self.workspace, ids["booking"])
        if found is None:
            raise Http404
        self.booking = found
        self.zone = found.timezone

    def get(self, request: HttpRequest, slug: str, booking: UUID | None) -> HttpResponse:
        if self.booking.appointment is not None:
            message = _("The link to your appointment is in your confirmation e-mail.")
            return self.page(MESSAGE, status=410, heading=_("This is booked already"), message=message)
        if self.booking.hold is not None:
            return redirect(address_of_deposit(self, self.booking))
        return self._show(CodeForm())

    def post(self, request: HttpRequest, slug: str, booking: UUID | None) -> HttpResponse:
        form = CodeForm(request.POST)
        if not form.is_valid():
            return self._show(form, status=422)
        try:
            check_code(booking=self.booking, code=form.cleaned_data["code"], now=self.now)
        except (WrongCode, CodeEnded) as refusal:
            form.add_error("code", in_page_language(refusal.message))
            return self._show(form, status=422)
        return book_or_explain(self, self.booking)

    def _show(self, form: CodeForm, *, status: int = 200) -> HttpResponse:
        booking = self.booking
        ends_at = booking.starts_at + timedelta(minutes=booking.service.duration_minutes or 0)
        staff = booking.staff.uuid if booking.staff else ""
        carried = query(staff=staff, zone=booking.timezone, kept=booking.uuid, at=instant_as_text(booking.starts_at))
        back = reverse("book:details", args=[self.booking_page.slug, booking.service.uuid])
        return self.page(
            "appointments/public/code.html",
            status=status,
            form=form,
            booking=booking,
            when=time_in_words(booking.starts_at, ends_at, booking.timezone),
            back=f"{back}?{carried}",
        )
