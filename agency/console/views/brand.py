"""Configuration → Brand: the looks that an agency's customers see."""

from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.console.forms import ColourForm, LogoForm
from agency.console.views.base import ConsoleView, FormPage, crumb
from agency.pages.forms import Confirmation
from agency.services import brand_of, remove_logo, set_accent, set_logo

TITLE = gettext_lazy("Brand")
NAV = "console:brand"


class BrandPage(ConsoleView):
    nav = NAV

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.page("agency/brand.html", brand=brand_of(self.agency))


class Colour(FormPage[ColourForm]):
    nav = NAV

    def make_form(self, data: Any = None) -> ColourForm:
        return ColourForm(data, initial={"accent": brand_of(self.agency).accent})

    def save(self, form: ColourForm) -> HttpResponse:
        set_accent(agency=self.agency, accent=form.cleaned_data["accent"], by=self.by)
        return self.done(_("The colour was saved."), NAV)

    def context(self) -> dict[str, Any]:
        return {"crumbs": [crumb(TITLE, NAV)], "heading": _("Colour"), "submit": _("Save")}


class Logo(FormPage[LogoForm]):
    nav = NAV

    def make_form(self, data: Any = None) -> LogoForm:
        return LogoForm(data, None if data is None else self.request.FILES)

    def save(self, form: LogoForm) -> HttpResponse:
        file: UploadedFile[bytes] = form.cleaned_data["logo"]
        set_logo(agency=self.agency, file=file.read(), by=self.by)
        return self.done(_("The logo was saved."), NAV)

    def context(self) -> dict[str, Any]:
        return {"crumbs": [crumb(TITLE, NAV)], "heading": _("Logo"), "submit": _("Save")}


class LogoRemove(FormPage[Confirmation]):
    nav = NAV

    def make_form(self, data: Any = None) -> Confirmation:
        return Confirmation(data)

    def save(self, form: Confirmation) -> HttpResponse:
        remove_logo(agency=self.agency, by=self.by)
        return self.done(_("The logo was removed."), NAV)

    def context(self) -> dict[str, Any]:
        return {
            "crumbs": [crumb(TITLE, NAV)],
            "heading": _("Remove the logo?"),
            "text": _("Your customers will see the first letter of your name instead."),
            "submit": _("Remove logo"),
            "danger": True,
        }
