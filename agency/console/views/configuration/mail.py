"""Configuration → E-mail: the sender of e-mails to customers, the server that sends them, and failed e-mails."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.console.mail_forms import SenderForm, ServerForm
from agency.console.views.base import ConsoleView, FormPage, crumb
from agency.models import Agency, Mail
from agency.models.mail import STEPS
from agency.pages.forms.forms import Confirmation
from agency.pages.signed_in import person_of
from agency.services import (
    change_mail_server,
    change_sender,
    mail_settings_of,
    remove_mail_server,
    request_test_mail,
    send_mail_again,
)
from agency.services.mail.routes import OF_AGENCIES
from agency.services.mail.servers import FAILURES_BEFORE_REST, REST
from agency.services.mail.testing import waits_for_test
from agency.services.mail.transport import installation_address

TITLE = gettext_lazy("E-mail")
NAV = "console:mail"
FAILURES_SHOWN = 30


def failed_mails(agency: Agency) -> list[Mail]:
    """Return the latest failed e-mails: given up, or waiting for another attempt."""
    failed = Mail.objects.filter(agency=agency, sent_at=None, failed_at__isnull=False, kind__in=OF_AGENCIES)
    return list(failed.order_by("-failed_at")[:FAILURES_SHOWN])


def steps_of(report: dict[str, Any]) -> list[tuple[Any, bool]]:
    """Return the steps of the last test in words, and whether each succeeded; only the last can have failed."""
    steps = [name for name in report.get("steps", []) if name in STEPS]
    failed = report.get("failure_step") or ("" if not report.get("failure") else steps[-1] if steps else "")
    return [(STEPS[name], name != failed) for name in steps]


class MailPage(ConsoleView):
    nav = NAV

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
    nav = NAV

    def make_form(self, data: Any = None) -> SenderForm:
        settings = mail_settings_of(self.agency)
        return SenderForm(data, initial={"sender_name": settings.sender_name, "reply_to": settings.reply_to})

    def save(self, form: SenderForm) -> HttpResponse:
        change_sender(agency=self.agency, **form.cleaned_data, by=self.by)
        return self.done(_("The sender was saved."), NAV)

    def context(self) -> dict[str, Any]:
        return {"crumbs": [crumb(TITLE, NAV)], "heading": _("Sender"), "submit": _("Save")}


class MailServer(FormPage[ServerForm]):
    nav = NAV

    def make_form(self, data: Any = None) -> ServerForm:
        settings = mail_settings_of(self.agency)
        names = ("host", "port", "security", "username", "from_address")
        shown = {name: getattr(settings, name) for name in names} if settings.has_server else {}
        return ServerForm(data, initial=shown, has_password=settings.has_server and bool(settings.username))

    def save(self, form: ServerForm) -> HttpResponse:
        given = form.cleaned_data
        change_mail_server(agency=self.agency, by=self.by, **{**given, "password": given["password"] or None})
        return self.done(_("The server was saved. It is not used before it has taken a test e-mail."), NAV)

    def context(self) -> dict[str, Any]:
        return {"crumbs": [crumb(TITLE, NAV)], "heading": _("Own mail server"), "submit": _("Save")}


class MailServerRemove(FormPage[Confirmation]):
    nav = NAV

    def make_form(self, data: Any = None) -> Confirmation:
        return Confirmation(data)

    def save(self, form: Confirmation) -> HttpResponse:
        remove_mail_server(agency=self.agency, by=self.by)
        return self.done(_("The server was removed. E-mails go by ours again."), NAV)

    def context(self) -> dict[str, Any]:
        return {
            "crumbs": [crumb(TITLE, NAV)],
            "heading": _("Remove your mail server?"),
            "text": _("Its password is forgotten. E-mails go by our server again, still in your name."),
            "submit": _("Remove server"),
            "danger": True,
        }


class MailTest(ConsoleView):
    """Requests a test e-mail to the signed-in person; the page then shows how each step went."""

    nav = form_page = NAV

    def post(self, request: HttpRequest) -> HttpResponse:
        person = person_of(request)
        request_test_mail(agency=self.agency, user=person, now=timezone.now(), by=self.by)
        return self.done(_("A test e-mail to %(address)s is on its way.") % {"address": person.email}, NAV)


class MailAgain(ConsoleView):
    """Queues a given-up e-mail again."""

    nav = form_page = NAV
    creates = True

    def post(self, request: HttpRequest, pk: int) -> HttpResponse:
        again = send_mail_again(agency=self.agency, pk=pk, now=timezone.now(), by=self.by)
        return self.done(_("The e-mail to %(address)s is on its way again.") % {"address": again.recipient}, NAV)
