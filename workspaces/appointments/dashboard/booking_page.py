"""The page on which a workspace sets up its booking page, with its link, a QR code and a button for websites."""

from collections.abc import Mapping
from io import BytesIO
from typing import Final

import segno
from django import forms
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.utils import timezone
from django.utils.html import escape
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from agency.pages.forms import LineField, MultilineField
from agency.services.hosts import base_url_of
from workspaces.appointments.models import BookingPage
from workspaces.appointments.models.booking_pages import LONGEST_INTRODUCTION, LONGEST_SLUG
from workspaces.appointments.services.booking_pages import (
    BookingPageNotFound,
    address_of,
    booking_page_of,
    change_booking_page,
    free_slug,
)
from workspaces.appointments.services.visitors import offered_services
from workspaces.subaccounts.dashboard.base import DashboardForm, DashboardView

PAGE: Final = "app:booking-page"
HOUR, DAY = 60, 24 * 60
NOTICES: Final = (0, HOUR, 2 * HOUR, 4 * HOUR, 12 * HOUR, DAY, 2 * DAY, 3 * DAY, 7 * DAY, 14 * DAY)
PNG_SCALE: Final = 12


def notice_in_words(minutes: int) -> str:
    """Say how long before an appointment a visitor may still change it."""
    if minutes == 0:
        return _("Until it begins")
    if minutes % DAY == 0:
        days = minutes // DAY
        return ngettext("Until %(count)s day before", "Until %(count)s days before", days) % {"count": days}
    if minutes % HOUR == 0:
        hours = minutes // HOUR
        return ngettext("Until %(count)s hour before", "Until %(count)s hours before", hours) % {"count": hours}
    return ngettext("Until %(count)s minute before", "Until %(count)s minutes before", minutes) % {"count": minutes}


class BookingPageForm(forms.Form):
    enabled = forms.BooleanField(
        label=gettext_lazy("The booking page is on"),
        required=False,
        help_text=gettext_lazy("Anybody with the link can book."),
    )
    slug = LineField(
        label=gettext_lazy("Address"), max_length=LONGEST_SLUG, widget=forms.TextInput({"autocapitalize": "none"})
    )
    introduction = MultilineField(
        label=gettext_lazy("Introduction"),
        required=False,
        max_length=LONGEST_INTRODUCTION,
        widget=forms.Textarea({"rows": 4}),
        help_text=gettext_lazy("Visitors read this above your services."),
    )

    offers_classes = forms.BooleanField(
        label=gettext_lazy("Visitors can book seats in classes"),
        required=False,
        help_text=gettext_lazy("The page lists the classes that have not begun, with their free seats."),
    )

    def __init__(self, data: Mapping[str, object] | None = None, *, page: BookingPage, base: str) -> None:
        names = ("enabled", "slug", "introduction", "offers_classes", "cancel_notice_minutes")
        held = {name: getattr(page, name) for name in names}
        super().__init__(data, initial=held)
        self.fields["slug"].help_text = _("It is at the end of the link: %(address)s") % {"address": f"{base}/book/…"}
        choices = sorted({*NOTICES, page.cancel_notice_minutes})
        self.fields["cancel_notice_minutes"] = forms.TypedChoiceField(
            label=_("Visitors may move or cancel an appointment"),
            choices=[(minutes, notice_in_words(minutes)) for minutes in choices],
            coerce=int,
            help_text=_("Seats in classes can be given back until then, too."),
        )


class BookingPageSettings(DashboardForm[BookingPageForm]):
    """Switches the booking page on and off, and says what it shows."""

    nav = PAGE
    template_name = "appointments/booking_page.html"

    def make_form(self, data: Mapping[str, object] | None = None) -> BookingPageForm:
        return BookingPageForm(data, page=self.shown_page, base=base_url_of(self.workspace.agency_id))

    @property
    def shown_page(self) -> BookingPage:
        """The page as it is, or as the first saving would make it."""
        found = booking_page_of(self.workspace)
        return found or BookingPage(workspace=self.workspace, slug=free_slug(self.workspace.name), enabled=False)

    def save(self, form: BookingPageForm) -> HttpResponse:
        given = form.cleaned_data
        page = change_booking_page(
            workspace=self.workspace,
            now=timezone.now(),
            by=self.by,
            enabled=given["enabled"],
            slug=given["slug"],
            introduction=given["introduction"],
            offers_classes=given["offers_classes"],
            cancel_notice_minutes=given["cancel_notice_minutes"],
        )
        return self.done(_("The booking page is on.") if page.enabled else _("The booking page is off."), PAGE)

    def context(self) -> dict[str, object]:
        page = booking_page_of(self.workspace)
        if page is None or not page.enabled:
            return {}
        address = address_of(self.workspace, page.slug)
        label = _("Book an appointment")
        return {
            "address": address,
            "picture": segno.make_qr(address, error="m").svg_data_uri(scale=5, dark="#000", light="#fff"),
            "button": f'<a href="{escape(address)}">{escape(label)}</a>',
            "has_services": offered_services(page, now=timezone.now()).exists(),
        }


class BookingPageCode(DashboardView):
    """The QR code of the booking page as a picture for print."""

    nav = PAGE

    def get(self, request: HttpRequest) -> HttpResponse:
        page = booking_page_of(self.workspace)
        if page is None or not page.enabled:
            raise BookingPageNotFound
        code = segno.make_qr(address_of(self.workspace, page.slug), error="m")
        picture = BytesIO()
        code.save(picture, kind="png", scale=PNG_SCALE, border=4)
        headers = {"Content-Disposition": 'attachment; filename="booking-page.png"'}
        return HttpResponse(picture.getvalue(), content_type="image/png", headers=headers)


urlpatterns = [
    path("booking-page", BookingPageSettings.as_view(), name="booking-page"),
    path("booking-page/code.png", BookingPageCode.as_view(), name="booking-page-code"),
]
