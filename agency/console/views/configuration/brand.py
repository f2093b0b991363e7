"""Configuration → Brand: the language, colour and pictures that an agency's customers see."""

from typing import Any, ClassVar, Final

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.console.forms import ColourForm, LanguageForm, PictureForm
from agency.console.views.base import ConsoleView, FormPage, crumb
from agency.models.branding.brands import PictureKind
from agency.pages.branding.look import look_of_agency
from agency.pages.forms.forms import Confirmation
from agency.pages.locale import prefer_language_of
from agency.pages.registry import StrOrPromise
from agency.services import brand_of, remove_picture, set_accent, set_language, set_picture, suggested_colours

TITLE = gettext_lazy("Brand")
NAV = "console:brand"
PALETTE: Final = (
    "#1f6feb",
    "#4f46e5",
    "#7c3aed",
    "#c026d3",
    "#e11d48",
    "#ea580c",
    "#ffcc00",
    "#16a34a",
    "#0d9488",
    "#0f172a",
)
USUAL: Final = "#4f46e5"
PICTURES: Final[dict[PictureKind, StrOrPromise]] = {
    "logo": gettext_lazy("Logo"),
    "dark_logo": gettext_lazy("Logo on dark grounds"),
    "favicon": gettext_lazy("Icon of the browser's tab"),
}
REMOVAL: Final[dict[PictureKind, StrOrPromise]] = {
    "logo": gettext_lazy("Your customers will see the first letter of your name instead."),
    "dark_logo": gettext_lazy("On dark grounds your customers will see your logo on white instead."),
    "favicon": gettext_lazy("Your customers will see one that is made from your logo instead, if there is any."),
}


def address_of(kind: PictureKind) -> str:
    return f"console:brand-{kind.replace('_', '-')}"


class BrandPage(ConsoleView):
    """Shows the whole brand; a click chooses a colour, and choosing a file uploads a picture."""

    nav = NAV

    def get(self, request: HttpRequest) -> HttpResponse:
        brand = brand_of(self.agency)
        own = suggested_colours(self.agency) if self.may_write and brand.logo_digest else []
        pictures = [
            {
                "kind": kind,
                "title": title,
                "shown": brand.picture(kind),
                "is_made": kind == "favicon" and not brand.favicon_is_own,
                "upload": address_of(kind),
                "remove": f"{address_of(kind)}-remove",
            }
            for kind, title in PICTURES.items()
        ]
        return self.page(
            "agency/brand/brand.html",
            brand=brand,
            own_look=look_of_agency(self.agency, brand),
            pictures=pictures,
            own_colours=own,
            palette=PALETTE,
            picked=brand.accent or USUAL,
        )


class Language(FormPage[LanguageForm]):
    """The language of the agency's pages and of its customers' pages."""

    nav = NAV

    def make_form(self, data: Any = None) -> LanguageForm:
        return LanguageForm(data, initial={"language": self.agency.language})

    def save(self, form: LanguageForm) -> HttpResponse:
        agency = set_language(agency=self.agency, language=form.cleaned_data["language"], by=self.by)
        prefer_language_of(self.request, agency)
        return self.done(_("The language was saved."), NAV)

    def context(self) -> dict[str, Any]:
        return {"crumbs": [crumb(TITLE, NAV)], "heading": _("Language"), "submit": _("Save")}


class Colour(FormPage[ColourForm]):
    nav = NAV

    def make_form(self, data: Any = None) -> ColourForm:
        return ColourForm(data, initial={"accent": brand_of(self.agency).accent})

    def save(self, form: ColourForm) -> HttpResponse:
        set_accent(agency=self.agency, accent=form.cleaned_data["accent"], by=self.by)
        return self.done(_("The colour was saved."), NAV)

    def context(self) -> dict[str, Any]:
        return {"crumbs": [crumb(TITLE, NAV)], "heading": _("Colour"), "submit": _("Save")}


class PictureUpload(FormPage[PictureForm]):
    """Replaces one of the pictures."""

    nav = NAV
    kind: ClassVar[PictureKind] = "logo"

    def make_form(self, data: Any = None) -> PictureForm:
        return PictureForm(data, None if data is None else self.request.FILES)

    def save(self, form: PictureForm) -> HttpResponse:
        file: UploadedFile[bytes] = form.cleaned_data["picture"]
        set_picture(agency=self.agency, kind=self.kind, file=file.read(), by=self.by)
        return self.done(_("The picture was saved."), NAV)

    def context(self) -> dict[str, Any]:
        return {"crumbs": [crumb(TITLE, NAV)], "heading": PICTURES[self.kind], "submit": _("Save")}


class PictureRemove(FormPage[Confirmation]):
    nav = NAV
    kind: ClassVar[PictureKind] = "logo"

    def make_form(self, data: Any = None) -> Confirmation:
        return Confirmation(data)

    def save(self, form: Confirmation) -> HttpResponse:
        remove_picture(agency=self.agency, kind=self.kind, by=self.by)
        return self.done(_("The picture was removed."), NAV)

    def context(self) -> dict[str, Any]:
        return {
            "crumbs": [crumb(TITLE, NAV)],
            "heading": _("Remove: %(picture)s?") % {"picture": PICTURES[self.kind]},
            "text": REMOVAL[self.kind],
            "submit": _("Remove picture"),
            "danger": True,
        }


class DarkLogo(PictureUpload):
    kind = "dark_logo"


class DarkLogoRemove(PictureRemove):
    kind = "dark_logo"


class Favicon(PictureUpload):
    kind = "favicon"


class FaviconRemove(PictureRemove):
    kind = "favicon"
