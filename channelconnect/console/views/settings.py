"""Configuration → Channel connect: the agency's return URLs."""

from typing import Any

from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.console.base import FormPage, breadcrumb
from channelconnect.console.forms import ReturnUrlsForm
from channelconnect.services import set_return_urls, settings_of
from channelconnect.services.settings import ReturnUrlRefused

NAV = "console:channel-connect"
TITLE = gettext_lazy("Channel connect")


class ReturnUrls(FormPage[ReturnUrlsForm]):
    """Replaces the whole list of return URLs."""

    nav = NAV

    def make_form(self, data: Any = None) -> ReturnUrlsForm:
        return ReturnUrlsForm(data, initial={"return_urls": "\n".join(settings_of(self.agency).return_urls)})

    def save(self, form: ReturnUrlsForm) -> HttpResponse:
        urls = form.cleaned_data["return_urls"]
        try:
            set_return_urls(agency=self.agency, return_urls=urls, by=self.by)
        except ReturnUrlRefused as refusal:
            said = {"url": urls[refusal.position], "message": _(refusal.message)}
            message = _("%(url)s is refused: %(message)s") % said
            form.add_error("return_urls", message)
            return self.show(form, status=422)
        return self.done(_("The return URLs were saved."), NAV)

    def context(self) -> dict[str, Any]:
        return {"crumbs": [breadcrumb(TITLE, NAV)], "heading": _("Return URLs"), "submit": _("Save")}
