"""Configuration → API: the agency's keys."""

from typing import Any

from django.db.models import F, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.console.forms import KeyForm
from agency.console.views.base import ConsoleView, FormPage, crumb
from agency.models import Agency, AgencyKey
from agency.pages.forms.forms import Confirmation
from agency.pages.lists import with_id
from agency.pages.tables import Column, ListPage, Table
from agency.services import KeyNotFound, issue_agency_key, revoke_agency_key
from agency.services.domains.hosts import base_url_of

API = gettext_lazy("API")
KEYS = "console:api-keys"
USED = gettext_lazy(
    "This form was used already: its key is shown only once. If you did not keep it, revoke it and create another."
)


def live_keys(agency: Agency) -> "QuerySet[AgencyKey]":
    return AgencyKey.objects.filter(agency=agency, revoked_at=None)


class KeyList(ListPage, ConsoleView):
    """Live keys first; revoked ones stay in the list."""

    nav = KEYS
    table = Table(
        caption=gettext_lazy("API keys"),
        columns=(
            Column(name="name", label=gettext_lazy("Name"), order=("name", "id")),
            Column(name="key", label=gettext_lazy("Key")),
            Column(name="created", label=gettext_lazy("Created"), order=("created_at", "id"), descends_first=True),
            Column(name="used", label=gettext_lazy("Last used"), order=("last_used_at", "id")),
            Column(name="state", label=gettext_lazy("State")),
            Column(name="actions", label=gettext_lazy("Actions"), is_unseen=True),
        ),
    )

    def get(self, request: HttpRequest) -> HttpResponse:
        keys = AgencyKey.objects.filter(agency=self.agency)
        state = self.read_table().fetch(keys.order_by(F("revoked_at").desc(nulls_first=True), "-created_at", "-id"))
        return self.list_page("agency/api_keys.html", state, public_url=base_url_of(self.agency.pk))


class KeyNew(FormPage[KeyForm]):
    """Creates a key and shows it in the answer itself: no page can show it a second time."""

    nav = KEYS
    creates = True
    sent_already = USED

    def make_form(self, data: Any = None) -> KeyForm:
        return KeyForm(data)

    def save(self, form: KeyForm) -> HttpResponse:
        given = form.cleaned_data
        key, plaintext = issue_agency_key(
            agency=self.agency, name=given["name"], can_copy=given["can_copy"], by=self.by
        )
        return self.page(
            "agency/api_key_created.html", key=key, plaintext=plaintext, public_url=base_url_of(self.agency.pk)
        )

    def context(self) -> dict[str, Any]:
        return {"crumbs": [crumb(API, KEYS)], "heading": _("New API key"), "submit": _("Create key")}


class KeyRevoke(FormPage[Confirmation]):
    nav = KEYS
    key: AgencyKey

    def find(self, **ids: Any) -> None:
        found = with_id(live_keys(self.agency), ids["uuid"])
        if found is None:
            raise KeyNotFound
        self.key = found

    def make_form(self, data: Any = None) -> Confirmation:
        return Confirmation(data)

    def save(self, form: Confirmation) -> HttpResponse:
        revoke_agency_key(key=self.key, now=timezone.now(), by=self.by)
        return self.done(
            _("%(name)s was revoked. Calls with it are refused from now on.") % {"name": self.key.name}, KEYS
        )

    def context(self) -> dict[str, Any]:
        is_last = not live_keys(self.agency).exclude(pk=self.key.pk).exists()
        return {
            "crumbs": [crumb(API, KEYS)],
            "heading": _("Revoke %(name)s?") % {"name": self.key.name},
            "text": _("Every call with the key %(prefix)s… is refused from that moment on. This cannot be undone.")
            % {"prefix": self.key.prefix},
            "warning": _("This is the last live key: afterwards nothing can call the API for your agency.")
            if is_last
            else "",
            "submit": _("Revoke key"),
            "danger": True,
        }
