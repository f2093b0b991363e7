"""The console's pages about A.I. accounts: the list, an account with its usage, and forms to change it."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import path
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.console.base import ConsoleView, FormPage, breadcrumb
from agency.pages.forms import ConfirmationForm, LineField, LocalDecimalField
from agency.pages.pagination import with_id
from agency.pages.views import ConcurrencyLimit
from config.db import database_now
from config.errors import Conflict
from workspaces.automations.models import AiAccount, AiUsage
from workspaces.automations.models.ai import LONGEST_BASE_URL, LONGEST_MODEL
from workspaces.automations.services.ai_accounts import (
    MOST_ACCOUNTS,
    AiAccountNotFound,
    accounts_of,
    add_ai_account,
    change_ai_account,
    remove_ai_account,
    set_agency_ai_budget,
    try_ai_account,
)
from workspaces.automations.services.ai_budgets import (
    MILLIONTHS,
    NEARLY_USED,
    agency_budget_of,
    agency_spending,
    month_of,
)

TITLE = gettext_lazy("A.I. accounts")
NAV = "console:ai-accounts"
ACCOUNT = "console:ai-account"
MOST_MONTHS: Final = 12
LONGEST_KEY: Final = 1_000
# A test may take ten seconds. The limit keeps tests from occupying all threads of a web process.
TESTS = ConcurrencyLimit(2)
PLAIN: Final = {"spellcheck": "false", "autocapitalize": "none", "autocomplete": "off"}
PRICE: Final[dict[str, Any]] = {"min_value": Decimal(0), "max_digits": 10, "decimal_places": 4, "initial": Decimal(0)}
AMOUNT: Final[dict[str, Any]] = {"min_value": Decimal(0), "max_digits": 12, "decimal_places": 2}
REASONS: Final = {
    "key_refused": gettext_lazy("The provider refuses the key."),
    "timeout": gettext_lazy("The provider did not answer in ten seconds."),
    "unreachable": gettext_lazy("The address cannot be reached."),
    "address_refused": gettext_lazy("The address may not be called."),
    "throttled": gettext_lazy("The provider asks to be called less often."),
    "provider_error": gettext_lazy("The provider has a fault."),
    "request_refused": gettext_lazy("The provider refuses the request. Check the model's name and the address."),
    "invalid_answer": gettext_lazy("The provider's answer had the wrong format."),
    "unreadable": gettext_lazy("The key cannot be read any more. Enter it again."),
}
OTHER_REASON = gettext_lazy("The test failed.")


class ManyTests(Conflict):
    message = "Many accounts are being tested right now. Try again in a moment."


class AiAccountForm(forms.Form):
    """An account. The key is never shown, and an empty field keeps it."""

    name = LineField(label=gettext_lazy("Name"), max_length=120)
    provider = forms.ChoiceField(
        label=gettext_lazy("Provider"), choices=AiAccount.Provider.choices, widget=forms.RadioSelect
    )
    base_url = LineField(
        label=gettext_lazy("Address of the API"),
        max_length=LONGEST_BASE_URL,
        widget=forms.URLInput(attrs={**PLAIN, "placeholder": "https://api.openai.com/v1"}),
        help_text=gettext_lazy("Such as https://api.openai.com/v1 or https://api.anthropic.com."),
    )
    model = LineField(label=gettext_lazy("Model"), max_length=LONGEST_MODEL, widget=forms.TextInput(attrs=PLAIN))
    key = forms.CharField(
        label=gettext_lazy("Key"),
        max_length=LONGEST_KEY,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text=gettext_lazy("Kept encrypted and never shown again."),
    )
    monthly_budget = LocalDecimalField(
        label=gettext_lazy("Budget for a month"),
        help_text=gettext_lazy("In the currency of the provider's prices. When it is used up, the A.I. is not called."),
        **AMOUNT,
    )
    workspace_budget = LocalDecimalField(
        label=gettext_lazy("Budget for a month and sub-account"),
        required=False,
        help_text=gettext_lazy("Empty means that only the budget of all together counts."),
        **AMOUNT,
    )
    input_price = LocalDecimalField(label=gettext_lazy("Price of a million tokens that are sent"), **PRICE)
    output_price = LocalDecimalField(label=gettext_lazy("Price of a million tokens that come back"), **PRICE)
    is_default = forms.BooleanField(label=gettext_lazy("Use this account by default"), required=False)

    def __init__(self, *arguments: Any, has_key: bool = False, **options: Any) -> None:
        super().__init__(*arguments, **options)
        if has_key:
            self.fields["key"].required = False
            self.fields["key"].help_text = _(
                "Leave this empty to keep the current key. The key is stored encrypted and never shown."
            )

    def clean_key(self) -> str:
        key = str(self.cleaned_data["key"])
        if not key.isascii() or not key.isprintable() or " " in key:
            raise ValidationError(_("A key has only letters, digits and signs."), code="key")
        return key


class AiAccounts(ConsoleView):
    """Lists all accounts on one page, as an agency has a few, with what they used this month."""

    nav = NAV

    def get(self, request: HttpRequest) -> HttpResponse:
        accounts = list(accounts_of(self.agency).order_by("-is_default", "name_key")[:MOST_ACCOUNTS])
        now = database_now()
        usage = AiUsage.objects.filter(account__in=accounts, workspace=None, month=month_of(now))
        used = {one.account_id: one for one in usage}
        rows = [(one, _spent(used.get(one.pk)), _state_of(one)) for one in accounts]
        budget, spent = agency_budget_of(self.agency.pk), agency_spending(self.agency.pk, now)
        return self.page(
            "automations/console_ai_accounts.html", rows=rows, budget=budget, spent=spent, tone=_tone_of(spent, budget)
        )


def _tone_of(spent: Decimal, budget: Decimal | None) -> str:
    """Return the tone in which the spending of all accounts is shown beside their budget."""
    if budget is None or spent * 100 < budget * NEARLY_USED:
        return "good"
    return "warning" if spent < budget else "bad"


def _spent(usage: AiUsage | None) -> Decimal:
    return Decimal(usage.cost if usage else 0) / MILLIONTHS


def _state_of(account: AiAccount) -> tuple[str, str]:
    """Return an account's state in words, and its tone."""
    if account.refused_at:
        return _("Key refused"), "bad"
    if account.stopped_until and account.stopped_until > database_now():
        return _("Does not answer"), "bad"
    return _("In use"), "good"


class AccountView(ConsoleView):
    """A page about one account."""

    nav = NAV

    def account_of(self, uuid: UUID | None) -> AiAccount:
        found = with_id(accounts_of(self.agency).select_related("agency"), uuid)
        if found is None:
            raise AiAccountNotFound
        return found


class AiAccountPage(AccountView):
    """Shows one account, and what was used of it in each month."""

    def get(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        account = self.account_of(uuid)
        usage = account.usage.filter(workspace=None).order_by("-month")[:MOST_MONTHS]
        state, tone = _state_of(account)
        months = [(one, _spent(one)) for one in usage]
        return self.page("automations/console_ai_account.html", account=account, state=state, tone=tone, months=months)


class AiAccountNew(FormPage[AiAccountForm]):
    nav = NAV
    creates = True

    def make_form(self, data: Mapping[str, object] | None = None) -> AiAccountForm:
        return AiAccountForm(data, initial={"provider": AiAccount.Provider.OPENAI})

    def save(self, form: AiAccountForm) -> HttpResponse:
        account = add_ai_account(agency=self.agency, by=self.by, **form.cleaned_data)
        return self.done(_("The account was added. Test it now."), ACCOUNT, account.uuid)

    def context(self) -> dict[str, object]:
        return {"crumbs": [breadcrumb(TITLE, NAV)], "heading": _("Add A.I. account"), "submit": _("Add account")}


class AiAccountEdit(FormPage[AiAccountForm], AccountView):
    account: AiAccount

    def find(self, **ids: UUID | None) -> None:
        self.account = self.account_of(ids["uuid"])

    def make_form(self, data: Mapping[str, object] | None = None) -> AiAccountForm:
        shown = {name: getattr(self.account, name) for name in AiAccountForm.base_fields if name != "key"}
        return AiAccountForm(data, initial=shown, has_key=True)

    def save(self, form: AiAccountForm) -> HttpResponse:
        change_ai_account(account=self.account, by=self.by, **form.cleaned_data)
        return self.done(_("The account was saved."), ACCOUNT, self.account.uuid)

    def context(self) -> dict[str, object]:
        crumbs = [breadcrumb(TITLE, NAV), breadcrumb(self.account.name, ACCOUNT, self.account.uuid)]
        return {"crumbs": crumbs, "heading": _("Edit A.I. account"), "submit": _("Save")}


class AiAccountRemove(FormPage[ConfirmationForm], AccountView):
    account: AiAccount

    def find(self, **ids: UUID | None) -> None:
        self.account = self.account_of(ids["uuid"])

    def make_form(self, data: Mapping[str, object] | None = None) -> ConfirmationForm:
        return ConfirmationForm(data)

    def save(self, form: ConfirmationForm) -> HttpResponse:
        remove_ai_account(account=self.account, by=self.by)
        return self.done(_("The account was removed."), NAV)

    def context(self) -> dict[str, object]:
        return {
            "crumbs": [breadcrumb(TITLE, NAV), breadcrumb(self.account.name, ACCOUNT, self.account.uuid)],
            "heading": _("Remove this A.I. account?"),
            "text": _("Its key and its usage are deleted. Steps that use it continue as if the A.I. were unsure."),
            "submit": _("Remove account"),
            "danger": True,
        }


class AiAccountTest(AccountView):
    """Makes one small call, and says how it went."""

    form_page = ACCOUNT

    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        account = self.account_of(uuid)
        with TESTS.slot() as is_free:
            if not is_free:
                raise ManyTests
            code = try_ai_account(account=account)
        if not code:
            return self.done(_("The A.I. answered well."), ACCOUNT, account.uuid)
        messages.error(request, REASONS.get(code, OTHER_REASON))
        return redirect(ACCOUNT, account.uuid)


class AgencyBudgetForm(forms.Form):
    """What all accounts may cost together. An empty field means no limit."""

    monthly_budget = LocalDecimalField(
        label=gettext_lazy("Budget for a month"),
        required=False,
        help_text=gettext_lazy(
            "For all accounts and sub-accounts together. When it is used up, the A.I. is not called until next month. "
            "Amounts are added as they are, whatever the currency of each account. Empty means no limit."
        ),
        **AMOUNT,
    )


class AgencyBudget(FormPage[AgencyBudgetForm]):
    """Sets the budget of all accounts together."""

    nav = NAV

    def make_form(self, data: Mapping[str, object] | None = None) -> AgencyBudgetForm:
        return AgencyBudgetForm(data, initial={"monthly_budget": agency_budget_of(self.agency.pk)})

    def save(self, form: AgencyBudgetForm) -> HttpResponse:
        set_agency_ai_budget(agency=self.agency, by=self.by, **form.cleaned_data)
        return self.done(_("The budget was saved."), NAV)

    def context(self) -> dict[str, object]:
        return {"crumbs": [breadcrumb(TITLE, NAV)], "heading": _("Budget of all A.I. accounts"), "submit": _("Save")}


urlpatterns = [
    path("configuration/ai-accounts", AiAccounts.as_view(), name="ai-accounts"),
    path("configuration/ai-accounts/new", AiAccountNew.as_view(), name="ai-account-new"),
    path("configuration/ai-accounts/budget", AgencyBudget.as_view(), name="ai-budget"),
    path("configuration/ai-accounts/<id:uuid>", AiAccountPage.as_view(), name="ai-account"),
    path("configuration/ai-accounts/<id:uuid>/edit", AiAccountEdit.as_view(), name="ai-account-edit"),
    path("configuration/ai-accounts/<id:uuid>/remove", AiAccountRemove.as_view(), name="ai-account-remove"),
    path("configuration/ai-accounts/<id:uuid>/test", AiAccountTest.as_view(), name="ai-account-test"),
]
