"""The REST API page: the workspace's keys, and how to make a first call."""

from typing import Any, ClassVar

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.models.agencies import KeyQuerySet
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
from agency.services.hosts import base_url_of
from workspaces.subaccounts.dashboard.current_workspace import OWNERS
from workspaces.subaccounts.dashboard.forms import KeyForm
from workspaces.subaccounts.dashboard.surface import DashboardForm, DashboardView
from workspaces.subaccounts.models import WorkspaceKey
from workspaces.subaccounts.services import (
    KeyNotFound,
    issue_workspace_key,
    revoke_workspace_key,
    roll_workspace_key,
)
from workspaces.subaccounts.services.keys import MOST_KEYS

KEYS = "app:api-keys"
FORM = "pages/dashboard/form.html"
REST_API = gettext_lazy("REST API")


class KeyPage(DashboardView):
    """A page about the workspace's keys. Only the owner manages them, because keys outlive the people who made them."""

    nav = KEYS
    writers = OWNERS

    @property
    def keys(self) -> KeyQuerySet:
        return WorkspaceKey.objects.filter(workspace=self.workspace)

    def live_key(self, uuid: Any) -> WorkspaceKey:
        """Give the live key that an address names. Raises `KeyNotFound`."""
        found: WorkspaceKey | None = with_id(self.keys.live(), uuid)
        if found is None:
            raise KeyNotFound
        return found

    def page(self, template: str, *, status: int = 200, **context: Any) -> HttpResponse:
        """Give every page about keys the API's base URL."""
        base_url = f"{base_url_of(self.workspace.agency_id)}/api/v1"
        return super().page(template, status=status, base_url=base_url, most_keys=MOST_KEYS, **context)


class KeyList(ListPage, KeyPage):
    """Lists all keys, live ones first."""

    table = KEY_TABLE

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.list_page("subaccounts/api_keys.html", self.read_table().fetch(live_keys_first(self.keys)))


class KeyNew(KeyPage, DashboardForm[KeyForm]):
    """Creates a key and shows it in the response itself, because no page can show it again."""

    template_name: ClassVar[str] = FORM
    creates = True
    writers_only = True
    sent_already = KEY_SHOWN_ALREADY

    def make_form(self, data: Any = None) -> KeyForm:
        return KeyForm(data)

    def save(self, form: KeyForm) -> HttpResponse:
        name = form.cleaned_data["name"]
        key, plaintext = issue_workspace_key(workspace=self.workspace, name=name, by=self.by, **form.limits())
        return self.page("subaccounts/api_key_created.html", key=key, plaintext=plaintext)

    def context(self) -> dict[str, Any]:
        return {"crumbs": [(REST_API, reverse(KEYS))], "heading": _("New API key"), "submit": _("Create key")}


class KeyRoll(KeyPage, DashboardForm[RollForm]):
    """Replaces a key and shows the new one in the response itself."""

    template_name: ClassVar[str] = FORM
    creates = True
    writers_only = True
    sent_already = KEY_SHOWN_ALREADY
    key: WorkspaceKey

    def find(self, **ids: Any) -> None:
        self.key = self.live_key(ids["uuid"])

    def make_form(self, data: Any = None) -> RollForm:
        return RollForm(data)

    def save(self, form: RollForm) -> HttpResponse:
        now = timezone.now()
        until = form.old_valid_until(now)
        rolled = roll_workspace_key(workspace=self.workspace, key=self.key, old_valid_until=until, now=now, by=self.by)
        return self.page(
            "subaccounts/api_key_created.html",
            key=rolled.key,
            plaintext=rolled.plaintext,
            rolled=True,
            old_valid_until=until and rolled.old_valid_until,
        )

    def context(self) -> dict[str, Any]:
        return {**roll_page_context(name=self.key.name, prefix=self.key.prefix), "crumbs": [(REST_API, reverse(KEYS))]}


class KeyRevoke(KeyPage, DashboardForm[ConfirmationForm]):
    template_name: ClassVar[str] = FORM
    writers_only = True
    key: WorkspaceKey

    def find(self, **ids: Any) -> None:
        self.key = self.live_key(ids["uuid"])

    def make_form(self, data: Any = None) -> ConfirmationForm:
        return ConfirmationForm(data)

    def save(self, form: ConfirmationForm) -> HttpResponse:
        revoke_workspace_key(key=self.key, now=timezone.now(), by=self.by)
        return self.done(revocation_message(self.key.name), KEYS)

    def context(self) -> dict[str, Any]:
        is_last = not self.keys.live().exclude(pk=self.key.pk).exists()
        warning = _("This is the last live key: afterwards nothing can call the API for your workspace.")
        form = revocation_page_context(name=self.key.name, prefix=self.key.prefix, warning=warning if is_last else "")
        return {**form, "crumbs": [(REST_API, reverse(KEYS))]}
