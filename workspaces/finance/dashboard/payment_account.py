"""The page on which a workspace's owner connects the account at Stripe, and disconnects it."""

from collections.abc import Mapping
from typing import ClassVar, Final

from django import forms
from django.http import HttpResponse
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from agency.pages.forms import ConfirmationForm
from agency.pages.views import ConcurrencyLimit
from config.db import database_now
from config.errors import Conflict
from workspaces.catalogue.dashboard.forms import ConfirmView, Link, ObjectFormView
from workspaces.finance.models import ProviderAccount
from workspaces.finance.services.accounts import CONNECTING, payment_account_of
from workspaces.finance.services.connecting import DISABLED, GONE, connect_account, disconnect_account, renew_endpoint
from workspaces.subaccounts.dashboard.base import OWNER_ROLES, Role

PAGE: Final = "app:payment-account"
TITLE = gettext_lazy("Card payments")
# Connecting makes two calls of at most ten seconds. The limit keeps them from occupying all threads.
CALLS: Final = ConcurrencyLimit(2)
READ = pgettext_lazy("permission of a key", "Read")
WRITE = pgettext_lazy("permission of a key", "Write")
# The names under which Stripe shows the permissions of a restricted key.
PERMISSIONS: Final = (
    ("Checkout Sessions", WRITE),
    ("Charges and Refunds", WRITE),
    ("PaymentIntents", READ),
    ("Disputes", READ),
    ("Balance Transactions", READ),
    ("Payouts", READ),
    ("Webhook Endpoints", WRITE),
    ("Events", READ),
)
FAILURES: Final = {
    CONNECTING: gettext_lazy("Connecting was interrupted. Enter the key again."),
    "key_refused": gettext_lazy("Stripe refuses the key. Make a new one there and enter it here."),
    "permission_missing": gettext_lazy("The key lacks a permission. Add it at Stripe, or enter another key."),
}
ENDPOINT_FAILURES: Final = {
    GONE: gettext_lazy(
        "The webhook endpoint was deleted at Stripe. Payments and refunds are recorded late until you set it up again."
    ),
    DISABLED: gettext_lazy(
        "The webhook endpoint was disabled at Stripe. Payments and refunds are recorded late until you set it up again."
    ),
}
LOOK_FAILURES: Final = {
    "permission_missing": gettext_lazy(
        "The key cannot read events, so a refund or dispute at Stripe can be missed. At Stripe, add the permission "
        "Events: Read to the key, then enter the key again here."
    )
}


class ManyCalls(Conflict):
    message = "Many accounts are being connected right now. Try again in a moment."


class KeyForm(forms.Form):
    """A restricted key. It is never shown again."""

    key = forms.CharField(
        label=gettext_lazy("Restricted key"),
        max_length=255,
        widget=forms.PasswordInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
        help_text=gettext_lazy("It begins with rk_live_, or rk_test_ to try everything out. It is kept encrypted."),
    )

    def clean_key(self) -> str:
        return str(self.cleaned_data["key"]).strip()


class PaymentAccountPage(ObjectFormView[KeyForm]):
    """Shows the account and its state, and takes a key."""

    nav = "app:payment-account"
    template_name = "finance/payment_account.html"
    writers: ClassVar[frozenset[Role]] = OWNER_ROLES

    def heading(self) -> str:
        return str(TITLE)

    def submit(self) -> str:
        return _("Save the new key") if self.account else _("Connect")

    @property
    def account(self) -> ProviderAccount | None:
        return payment_account_of(self.workspace)

    def make_form(self, data: Mapping[str, object] | None = None) -> KeyForm:
        return KeyForm(data)

    def save(self, form: KeyForm) -> HttpResponse:
        with CALLS.slot() as is_free:
            if not is_free:
                raise ManyCalls
            connect_account(workspace=self.workspace, key=form.cleaned_data["key"], now=database_now(), by=self.by)
        return self.done(_("Stripe is connected. Your invoices can now be paid by card."), PAGE)

    def context(self) -> dict[str, object]:
        account = self.account
        found: dict[str, object] = {"account": account, "permissions": PERMISSIONS}
        if account:
            found["failure"] = FAILURES.get(account.failure, "")
            found["endpoint_failure"] = ENDPOINT_FAILURES.get(account.endpoint_failure, "")
            found["look_failure"] = LOOK_FAILURES.get(account.look_failure, "")
        return {**super().context(), **found}


class PaymentAccountWebhooks(ConfirmView):
    """Makes the webhook endpoint at Stripe anew. The account's page has a button that posts to it."""

    nav = "app:payment-account"
    form_page = PAGE
    writers: ClassVar[frozenset[Role]] = OWNER_ROLES
    writers_only = True

    def heading(self) -> str:
        return _("Set up webhooks again?")

    def submit(self) -> str:
        return _("Set up webhooks again")

    def text(self) -> str:
        return _("A new webhook endpoint replaces the present one at Stripe.")

    def crumbs(self) -> list[Link]:
        return [(TITLE, reverse(PAGE))]

    def context(self) -> dict[str, object]:
        return {**super().context(), "danger": False}

    def save(self, form: ConfirmationForm) -> HttpResponse:
        account = payment_account_of(self.workspace)
        with CALLS.slot() as is_free:
            if not is_free:
                raise ManyCalls
            if account is not None and account.endpoint_failure:
                renew_endpoint(account=account, by=self.by)
        return self.done(_("Stripe sends webhooks again. Missed events are recorded in a moment."), PAGE)


class PaymentAccountDisconnect(ConfirmView):
    """Asks before the account is disconnected."""

    nav = "app:payment-account"
    form_page = PAGE
    writers: ClassVar[frozenset[Role]] = OWNER_ROLES
    writers_only = True

    def heading(self) -> str:
        return _("Disconnect Stripe?")

    def submit(self) -> str:
        return _("Disconnect")

    def text(self) -> str:
        return _("Open payment pages are closed, and nobody can pay by card any more. Payments and refunds stay.")

    def crumbs(self) -> list[Link]:
        return [(TITLE, reverse(PAGE))]

    def make_form(self, data: Mapping[str, object] | None = None) -> ConfirmationForm:
        return ConfirmationForm(data)

    def save(self, form: ConfirmationForm) -> HttpResponse:
        account = payment_account_of(self.workspace)
        with CALLS.slot() as is_free:
            if not is_free:
                raise ManyCalls
            if account is not None:
                disconnect_account(account=account, now=database_now(), by=self.by)
        return self.done(_("Stripe is disconnected."), PAGE)


urlpatterns = [
    path("payment-account", PaymentAccountPage.as_view(), name="payment-account"),
    path("payment-account/webhooks", PaymentAccountWebhooks.as_view(), name="payment-account-webhooks"),
    path("payment-account/disconnect", PaymentAccountDisconnect.as_view(), name="payment-account-disconnect"),
]
