"""Configuration → Brand, E-mail and Sign-up: how an agency appears to its customers."""

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.console.base import ConsoleView, FormPage, breadcrumb
from agency.console.forms import ColourForm, LanguageForm, PictureForm, SenderForm, ServerForm, SignUpForm
from agency.models import Agency, Mail, Plan
from agency.models.branding import PictureKind
from agency.models.mail import STEPS
from agency.pages.branding import prefer_language_of, theme_of_agency
from agency.pages.forms import ConfirmationForm
from agency.pages.registry import StrOrPromise
from agency.pages.views import person_of
from agency.services import (
    brand_of,
    change_mail_server,
    change_sender,
    change_sign_up,
    mail_settings_of,
    remove_mail_server,
    remove_picture,
    request_test_mail,
    send_mail_again,
    set_accent,
    set_language,
    set_picture,
    sign_up_settings_of,
    suggested_colours,
)
from agency.services.catalogue import default_plan_of
from agency.services.hosts import base_url_of
from agency.services.mail.queue import AGENCY_MAIL_KINDS
from agency.services.mail.settings import waits_for_test
from agency.services.mail.transport import FAILURES_BEFORE_REST, REST, installation_address

BRAND_TITLE = gettext_lazy("Brand")
BRAND_NAV = "console:brand"
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
    "dark_logo": gettext_lazy("Logo on dark backgrounds"),
    "favicon": gettext_lazy("Browser tab icon"),
}
REMOVAL: Final[dict[PictureKind, StrOrPromise]] = {
    "logo": gettext_lazy("Your customers will see the first letter of your name instead."),
    "dark_logo": gettext_lazy("On dark backgrounds your customers will see your logo on white instead."),
    "favicon": gettext_lazy("Your customers will see one made from your logo instead, if you have a logo."),
}


def address_of(kind: PictureKind) -> str:
    return f"console:brand-{kind.replace('_', '-')}"


class BrandPage(ConsoleView):
    """Shows the whole brand; a click chooses a colour, and choosing a file uploads a picture."""

    nav = BRAND_NAV

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
            own_look=theme_of_agency(self.agency, brand),
            pictures=pictures,
            own_colours=own,
            palette=PALETTE,
            picked=brand.accent or USUAL,
        )


class Language(FormPage[LanguageForm]):
    """The language of the agency's pages and of its customers' pages."""

    nav = BRAND_NAV

    def make_form(self, data: Mapping[str, object] | None = None) -> LanguageForm:
        return LanguageForm(data, initial={"language": self.agency.language})

    def save(self, form: LanguageForm) -> HttpResponse:
        agency = set_language(agency=self.agency, language=form.cleaned_data["language"], by=self.by)
        prefer_language_of(self.request, agency)
        return self.done(_("The language was saved."), BRAND_NAV)

    def context(self) -> dict[str, object]:
        return {"crumbs": [breadcrumb(BRAND_TITLE, BRAND_NAV)], "heading": _("Language"), "submit": _("Save")}


class Colour(FormPage[ColourForm]):
    nav = BRAND_NAV

    def make_form(self, data: Mapping[str, object] | None = None) -> ColourForm:
        return ColourForm(data, initial={"accent": brand_of(self.agency).accent})

    def save(self, form: ColourForm) -> HttpResponse:
        set_accent(agency=self.agency, accent=form.cleaned_data["accent"], by=self.by)
        return self.done(_("The colour was saved."), BRAND_NAV)

    def context(self) -> dict[str, object]:
        return {"crumbs": [breadcrumb(BRAND_TITLE, BRAND_NAV)], "heading": _("Colour"), "submit": _("Save")}


class PictureUpload(FormPage[PictureForm]):
    """Replaces one of the pictures."""

    nav = BRAND_NAV
    kind: ClassVar[PictureKind] = "logo"

    def make_form(self, data: Mapping[str, object] | None = None) -> PictureForm:
        return PictureForm(data, None if data is None else self.request.FILES)

    def save(self, form: PictureForm) -> HttpResponse:
        file: UploadedFile[bytes] = form.cleaned_data["picture"]
        set_picture(agency=self.agency, kind=self.kind, file=file.read(), by=self.by)
        return self.done(_("The picture was saved."), BRAND_NAV)

    def context(self) -> dict[str, object]:
        return {"crumbs": [breadcrumb(BRAND_TITLE, BRAND_NAV)], "heading": PICTURES[self.kind], "submit": _("Save")}


class PictureRemove(FormPage[ConfirmationForm]):
    nav = BRAND_NAV
    kind: ClassVar[PictureKind] = "logo"

    def make_form(self, data: Mapping[str, object] | None = None) -> ConfirmationForm:
        return ConfirmationForm(data)

    def save(self, form: ConfirmationForm) -> HttpResponse:
        remove_picture(agency=self.agency, kind=self.kind, by=self.by)
        return self.done(_("The picture was removed."), BRAND_NAV)

    def context(self) -> dict[str, object]:
        return {
            "crumbs": [breadcrumb(BRAND_TITLE, BRAND_NAV)],
            "heading": _("Remove “%(picture)s”?") % {"picture": PICTURES[self.kind]},
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


MAIL_TITLE = gettext_lazy("E-mail")
MAIL_NAV = "console:mail"
FAILURES_SHOWN = 30


def failed_mails(agency: Agency) -> list[Mail]:
    """Return the latest failed e-mails: given up, or waiting for another attempt."""
    failed = Mail.objects.filter(agency=agency, sent_at=None, failed_at__isnull=False, kind__in=AGENCY_MAIL_KINDS)
    return list(failed.order_by("-failed_at")[:FAILURES_SHOWN])


def steps_of(report: dict[str, Any]) -> list[tuple[StrOrPromise, bool]]:
    """Return the steps of the last test in words, and whether each succeeded; only the last can have failed."""
    steps = [name for name in report.get("steps", []) if name in STEPS]
    failed = report.get("failure_step") or ("" if not report.get("failure") else steps[-1] if steps else "")
    return [(STEPS[name], name != failed) for name in steps]


class MailPage(ConsoleView):
    nav = MAIL_NAV

    def get(self, request: HttpRequest) -> HttpResponse:
        settings, now = mail_settings_of(self.agency), timezone.now()
        report, waits = settings.test_report, waits_for_test(settings, now)
        return self.page(
            "agency/mail/settings.html",
            settings=settings,
            is_used=settings.is_used(now),
            is_resting=settings.is_resting(now),
            sender_name=settings.sender_name or self.agency.name,
            installation_address=installation_address(),
            report=report,
            waits_for_test=waits,
            is_test_late=bool(report) and "steps" not in report and not waits,
            steps=steps_of(report),
            report_words=dict(Mail.Failure.choices).get(report.get("failure", ""), ""),
            failed=failed_mails(self.agency),
            person=person_of(request),
            before_rest=FAILURES_BEFORE_REST,
            rest_minutes=int(REST.total_seconds() // 60),
        )


class MailSender(FormPage[SenderForm]):
    nav = MAIL_NAV

    def make_form(self, data: Mapping[str, object] | None = None) -> SenderForm:
        settings = mail_settings_of(self.agency)
        return SenderForm(data, initial={"sender_name": settings.sender_name, "reply_to": settings.reply_to})

    def save(self, form: SenderForm) -> HttpResponse:
        change_sender(agency=self.agency, **form.cleaned_data, by=self.by)
        return self.done(_("The sender was saved."), MAIL_NAV)

    def context(self) -> dict[str, object]:
        return {"crumbs": [breadcrumb(MAIL_TITLE, MAIL_NAV)], "heading": _("Sender"), "submit": _("Save")}


class MailServer(FormPage[ServerForm]):
    nav = MAIL_NAV

    def make_form(self, data: Mapping[str, object] | None = None) -> ServerForm:
        settings = mail_settings_of(self.agency)
        names = ("host", "port", "security", "username", "from_address")
        shown = {name: getattr(settings, name) for name in names} if settings.has_server else {}
        return ServerForm(data, initial=shown, has_password=settings.has_server and bool(settings.username))

    def save(self, form: ServerForm) -> HttpResponse:
        given = form.cleaned_data
        change_mail_server(agency=self.agency, by=self.by, **{**given, "password": given["password"] or None})
        return self.done(_("The server was saved. It is not used until it has accepted a test e-mail."), MAIL_NAV)

    def context(self) -> dict[str, object]:
        return {"crumbs": [breadcrumb(MAIL_TITLE, MAIL_NAV)], "heading": _("Own mail server"), "submit": _("Save")}


class MailServerRemove(FormPage[ConfirmationForm]):
    nav = MAIL_NAV

    def make_form(self, data: Mapping[str, object] | None = None) -> ConfirmationForm:
        return ConfirmationForm(data)

    def save(self, form: ConfirmationForm) -> HttpResponse:
        remove_mail_server(agency=self.agency, by=self.by)
        return self.done(_("The server was removed. E-mails go through our server again."), MAIL_NAV)

    def context(self) -> dict[str, object]:
        return {
            "crumbs": [breadcrumb(MAIL_TITLE, MAIL_NAV)],
            "heading": _("Remove your mail server?"),
            "text": _(
                "We delete its password. E-mails go through our server again, still with your agency as the sender."
            ),
            "submit": _("Remove server"),
            "danger": True,
        }


class MailTest(ConsoleView):
    """Requests a test e-mail to the signed-in person; the page then shows how each step went."""

    nav = form_page = MAIL_NAV

    def post(self, request: HttpRequest) -> HttpResponse:
        person = person_of(request)
        request_test_mail(agency=self.agency, user=person, now=timezone.now(), by=self.by)
        return self.done(_("A test e-mail to %(address)s is on its way.") % {"address": person.email}, MAIL_NAV)


class MailAgain(ConsoleView):
    """Queues a given-up e-mail again."""

    nav = form_page = MAIL_NAV
    creates = True

    def post(self, request: HttpRequest, pk: int) -> HttpResponse:
        again = send_mail_again(agency=self.agency, pk=pk, now=timezone.now(), by=self.by)
        return self.done(_("The e-mail to %(address)s is on its way again.") % {"address": again.recipient}, MAIL_NAV)


SIGN_UP_TITLE = gettext_lazy("Sign-up")
SIGN_UP_NAV = "console:sign-up"


class SignUpPage(ConsoleView):
    nav = SIGN_UP_NAV

    def get(self, request: HttpRequest) -> HttpResponse:
        own = base_url_of(self.agency.pk)
        return self.page(
            "agency/sign_up.html",
            settings=sign_up_settings_of(self.agency),
            plan=default_plan_of(self.agency),
            address=own + reverse("sign-up:form") if own != base_url_of(None) else "",
        )


class SignUpEdit(FormPage[SignUpForm]):
    nav = SIGN_UP_NAV

    def make_form(self, data: Mapping[str, object] | None = None) -> SignUpForm:
        settings = sign_up_settings_of(self.agency)
        plans = Plan.objects.filter(agency=self.agency, archived_at=None).order_by("name_key", "id")
        initial = {
            "is_on": settings.is_on,
            "allows_further_workspaces": settings.allows_further_workspaces,
            "plan": default_plan_of(self.agency),
            "terms_url": settings.terms_url,
            "privacy_url": settings.privacy_url,
        }
        return SignUpForm(data, plans=plans, initial=initial)

    def save(self, form: SignUpForm) -> HttpResponse:
        change_sign_up(agency=self.agency, by=self.by, **form.cleaned_data)
        return self.done(_("The settings were saved."), SIGN_UP_NAV)

    def context(self) -> dict[str, object]:
        return {"crumbs": [breadcrumb(SIGN_UP_TITLE, SIGN_UP_NAV)], "heading": _("Edit sign-up"), "submit": _("Save")}
