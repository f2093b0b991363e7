"""Configuration → API: the agency's keys."""

from collections.abc import Mapping
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.console.base import ConsoleView, FormPage, breadcrumb
from agency.console.forms import KeyForm
from agency.models import Agency, AgencyKey
from agency.pages.api_keys import (
    KEY_SHOWN_ALREADY,
    KEY_TABLE,
    RollForm,
    live_keys_first,
    revocation_message,
    revocation_page_context,
    roll_page_context,
)
from agency.pages.forms import ConfirmationForm
from agency.pages.pagination import with_id
from agency.pages.tables import ListPage
from agency.services import KeyNotFound, issue_agency_key, revoke_agency_key, roll_agency_key
from agency.services.hosts import base_url_of

API = gettext_lazy("API")
KEYS = "console:api-keys"


def live_keys(agency: Agency) -> "QuerySet[AgencyKey]":
    return AgencyKey.objects.filter(agency=agency).live()


def live_key(agency: Agency, uuid: UUID | None) -> AgencyKey:
    """Return the agency's live key with this id. Raises `KeyNotFound`."""
    found = with_id(live_keys(agency), uuid)
    if found is None:
        raise KeyNotFound
    return found


class KeyList(ListPage, ConsoleView):
    """Lists live keys first, then the keys that no longer work."""

    nav = KEYS
    table = KEY_TABLE

    def get(self, request: HttpRequest) -> HttpResponse:
        keys = AgencyKey.objects.filter(agency=self.agency)
        state = self.read_table().fetch(live_keys_first(keys))
        return self.list_page("agency/api_keys.html", state, public_url=base_url_of(self.agency.pk))


class KeyNew(FormPage[KeyForm]):
    """Creates a key and shows it in the response itself, as no page can show it a second time."""

    nav = KEYS
    creates = True
    sent_already = KEY_SHOWN_ALREADY

    def make_form(self, data: Mapping[str, object] | None = None) -> KeyForm:
        return KeyForm(data)

    def save(self, form: KeyForm) -> HttpResponse:
        given = form.cleaned_data
        key, plaintext = issue_agency_key(
            agency=self.agency,
            name=given["name"],
            can_copy=given["can_copy"],
            can_make_keys=given["can_make_keys"],
            by=self.by,
            **form.limits(),
        )
        return self.page(
            "agency/api_key_created.html", key=key, plaintext=plaintext, public_url=base_url_of(self.agency.pk)
        )

    def context(self) -> dict[str, object]:
        return {"crumbs": [breadcrumb(API, KEYS)], "heading": _("New API key"), "submit": _("Create key")}


class KeyRoll(FormPage[RollForm]):
    """Replaces a key and shows the new one in the response itself."""

    nav = KEYS
    creates = True
    sent_already = KEY_SHOWN_ALREADY
    key: AgencyKey

    def find(self, **ids: UUID | None) -> None:
        self.key = live_key(self.agency, ids["uuid"])

    def make_form(self, data: Mapping[str, object] | None = None) -> RollForm:
        return RollForm(data)

    def save(self, form: RollForm) -> HttpResponse:
        now = timezone.now()
        until = form.old_valid_until(now)
        rolled = roll_agency_key(key=self.key, old_valid_until=until, now=now, by=self.by)
        return self.page(
            "agency/api_key_created.html",
            key=rolled.key,
            plaintext=rolled.plaintext,
            rolled=True,
            old_valid_until=until and rolled.old_valid_until,
            public_url=base_url_of(self.agency.pk),
        )

    def context(self) -> dict[str, object]:
        return {**roll_page_context(name=self.key.name, prefix=self.key.prefix), "crumbs": [breadcrumb(API, KEYS)]}


class KeyRevoke(FormPage[ConfirmationForm]):
    nav = KEYS
    key: AgencyKey

    def find(self, **ids: UUID | None) -> None:
        self.key = live_key(self.agency, ids["uuid"])

    def make_form(self, data: Mapping[str, object] | None = None) -> ConfirmationForm:
        return ConfirmationForm(data)

    def save(self, form: ConfirmationForm) -> HttpResponse:
        revoke_agency_key(key=self.key, now=timezone.now(), by=self.by)
        return self.done(revocation_message(self.key.name), KEYS)

    def context(self) -> dict[str, object]:
        is_last = not live_keys(self.agency).exclude(pk=self.key.pk).exists()
        warning = _("This is your last live key. Without it, nothing can call the API for your agency.")
        form = revocation_page_context(name=self.key.name, prefix=self.key.prefix, warning=warning if is_last else "")
        return {**form, "crumbs": [breadcrumb(API, KEYS)]}
