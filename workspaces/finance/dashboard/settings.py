"""Pages about what stands on invoices: the seller, the terms, the numbers, the accounts for DATEV, and tax rates."""

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from django import forms
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.dates import MONTHS
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.pages.forms import LineField, LocalDecimalField, MultilineField
from agency.pages.pagination import with_id
from agency.pages.tables import Column, ListPage, Table
from workspaces.catalogue.dashboard.forms import ConfirmView, Link, ObjectFormView
from workspaces.finance.dashboard.invoice_forms import rate_label
from workspaces.finance.models import Invoice, TaxRate
from workspaces.finance.models.bookkeeping import (
    LARGEST_CLIENT,
    LARGEST_CONSULTANT,
    LONGEST_ACCOUNT,
    LONGEST_ACCOUNTS,
    SHORTEST_ACCOUNTS,
    SMALLEST_CONSULTANT,
    BookkeepingSettings,
    is_account_number,
)
from workspaces.finance.models.invoices import (
    LONGEST_BUSINESS_NAME,
    LONGEST_PREFIX,
    LONGEST_TAX_NAME,
    LONGEST_TERMS,
    LONGEST_TEXT,
    LONGEST_VAT_ID,
    PERCENT_DECIMALS,
    PERCENT_DIGITS,
)
from workspaces.finance.services.bookkeeping import ACCOUNTS, bookkeeping_of, change_bookkeeping
from workspaces.finance.services.numbering import LARGEST_FIRST_NUMBER, change_series, is_in_use, series_of
from workspaces.finance.services.settings import change_finance_settings, finance_settings_of
from workspaces.finance.services.taxes import TaxRateNotFound, change_tax_rate, create_tax_rate
from workspaces.subaccounts.dashboard.base import DashboardView
from workspaces.subaccounts.models import Workspace

SETTINGS: Final = "app:finance-settings"
RATES: Final = "app:tax-rates"
SERIES: Final = (Invoice.Kind.INVOICE.value, Invoice.Kind.CREDIT_NOTE.value)
SELLER: Final = (
    "business_name",
    "address",
    "vat_id",
    "tax_number",
    "payment_details",
    "footer",
    "payment_days",
    "shares_totals",
)


class SellerForm(forms.Form):
    """What stands on invoices, and the prefix and first number of each series until its first number is given."""

    business_name = LineField(
        label=gettext_lazy("Name of the business"),
        required=False,
        max_length=LONGEST_BUSINESS_NAME,
        help_text=gettext_lazy("Its legal name. Without it invoices name the workspace."),
    )
    address = MultilineField(
        label=gettext_lazy("Address"), required=False, max_length=500, widget=forms.Textarea({"rows": 3})
    )
    vat_id = LineField(label=gettext_lazy("VAT ID"), required=False, max_length=LONGEST_VAT_ID)
    tax_number = LineField(label=gettext_lazy("Tax number"), required=False, max_length=LONGEST_VAT_ID)
    payment_details = MultilineField(
        label=gettext_lazy("How to pay"),
        required=False,
        max_length=LONGEST_TEXT,
        widget=forms.Textarea({"rows": 3}),
        help_text=gettext_lazy("For example your bank account. It is printed on every invoice."),
    )
    footer = MultilineField(
        label=gettext_lazy("Footer"), required=False, max_length=LONGEST_TEXT, widget=forms.Textarea({"rows": 3})
    )
    payment_days = forms.IntegerField(label=gettext_lazy("Days to pay"), min_value=0, max_value=LONGEST_TERMS)
    shares_totals = forms.BooleanField(
        label=gettext_lazy("Show your agency the totals"),
        required=False,
        help_text=gettext_lazy("Your agency sees what is owed, overdue and paid, but no invoices."),
    )

    def __init__(self, data: Mapping[str, object] | None = None, *, workspace: Workspace) -> None:
        own = finance_settings_of(workspace)
        super().__init__(data, initial={name: getattr(own, name) for name in SELLER})
        self.series = [kind for kind in SERIES if not is_in_use(workspace, kind)]
        labels = {
            Invoice.Kind.INVOICE.value: (_("Prefix of invoices"), _("First number of invoices")),
            Invoice.Kind.CREDIT_NOTE.value: (_("Prefix of credit notes"), _("First number of credit notes")),
        }
        for kind in self.series:
            known, (prefix, number) = series_of(workspace, kind), labels[kind]
            self.fields[f"{kind}_prefix"] = LineField(
                label=prefix, required=False, max_length=LONGEST_PREFIX, initial=known.prefix
            )
            self.fields[f"{kind}_number"] = forms.IntegerField(
                label=number,
                min_value=1,
                max_value=LARGEST_FIRST_NUMBER,
                initial=known.next_number,
                help_text=_("You can change prefix and number until the first one is issued."),
            )


class FinanceSettingsPage(ObjectFormView[SellerForm]):
    nav = SETTINGS
    template_name = "finance/settings.html"

    def heading(self) -> str:
        return _("Invoice settings")

    def submit(self) -> str:
        return _("Save")

    def links(self) -> list[Link]:
        return [
            (_("Tax rates"), reverse(RATES)),
            (_("Bookkeeping"), reverse("app:bookkeeping")),
            (_("Card payments"), reverse("app:payment-account")),
        ]

    def make_form(self, data: Mapping[str, object] | None = None) -> SellerForm:
        return SellerForm(data, workspace=self.workspace)

    def save(self, form: SellerForm) -> HttpResponse:
        typed = form.cleaned_data
        with transaction.atomic():
            seller: Any = {name: typed[name] for name in SELLER}
            change_finance_settings(workspace=self.workspace, now=timezone.now(), by=self.by, **seller)
            for kind in form.series:
                prefix, number = typed[f"{kind}_prefix"], typed[f"{kind}_number"]
                change_series(workspace=self.workspace, kind=kind, prefix=prefix, next_number=number, by=self.by)
        return self.done(_("The settings were saved."), SETTINGS)


class BookkeepingForm(forms.Form):
    """The numbers that a DATEV file names."""

    def __init__(self, data: Mapping[str, object] | None = None, *, own: BookkeepingSettings) -> None:
        super().__init__(data, initial={name: getattr(own, name) for name in (*NUMBERS, *ACCOUNTS)})
        self.fields |= {
            "consultant_number": forms.IntegerField(
                label=_("Consultant number"), min_value=SMALLEST_CONSULTANT, max_value=LARGEST_CONSULTANT
            ),
            "client_number": forms.IntegerField(label=_("Client number"), min_value=1, max_value=LARGEST_CLIENT),
            "year_begins_in": forms.TypedChoiceField(
                label=_("The financial year begins in"), choices=list(MONTHS.items()), coerce=int
            ),
            "account_length": forms.IntegerField(
                label=_("Digits of an account"), min_value=SHORTEST_ACCOUNTS, max_value=LONGEST_ACCOUNTS
            ),
        }
        for name in ACCOUNTS:
            self.fields[name] = LineField(
                label=ACCOUNT_LABELS[name], max_length=LONGEST_ACCOUNT, validators=[is_account_number]
            )


NUMBERS: Final = ("consultant_number", "client_number", "year_begins_in", "account_length")
ACCOUNT_LABELS: Final = {
    "receivables": gettext_lazy("Account of all customers"),
    "revenue_19": gettext_lazy("Revenue at 19%"),
    "revenue_7": gettext_lazy("Revenue at 7%"),
    "revenue_other": gettext_lazy("Revenue at all other rates"),
    "revenue_reverse_charge": gettext_lazy("Revenue with reverse charge"),
    "cash": gettext_lazy("Cash"),
    "bank": gettext_lazy("Bank"),
    "provider": gettext_lazy("Payment provider and cards"),
    "fees": gettext_lazy("Fees of the payment provider"),
}


class BookkeepingPage(ObjectFormView[BookkeepingForm]):
    nav = SETTINGS

    def heading(self) -> str:
        return _("Bookkeeping")

    def submit(self) -> str:
        return _("Save")

    def crumbs(self) -> list[Link]:
        return [(_("Invoice settings"), reverse(SETTINGS))]

    def context(self) -> dict[str, object]:
        text = _(
            "The DATEV file uses these account numbers. At first they are those of the chart of "
            "accounts SKR03. Ask your tax adviser which numbers you need."
        )
        return {**super().context(), "text": text}

    def make_form(self, data: Mapping[str, object] | None = None) -> BookkeepingForm:
        return BookkeepingForm(data, own=bookkeeping_of(self.workspace))

    def save(self, form: BookkeepingForm) -> HttpResponse:
        changes: Any = form.cleaned_data
        change_bookkeeping(workspace=self.workspace, by=self.by, **changes)
        return self.done(_("The settings were saved."), "app:bookkeeping")


# Tax rates ------------------------------------------------------------------------------------------------------


class TaxRateForm(forms.Form):
    name = LineField(
        label=gettext_lazy("Name"), max_length=LONGEST_TAX_NAME, help_text=gettext_lazy("For example VAT.")
    )
    percent = LocalDecimalField(
        label=gettext_lazy("Percent"),
        min_value=0,
        max_value=100,
        max_digits=PERCENT_DIGITS,
        decimal_places=PERCENT_DECIMALS,
    )
    inclusive = forms.BooleanField(
        label=gettext_lazy("Prices contain the tax"),
        required=False,
        help_text=gettext_lazy("If this is not selected, the tax is added to the prices of the lines."),
    )


class TaxRates(ListPage, DashboardView):
    """The tax rates that lines can have; archived ones come after all others."""

    nav = SETTINGS
    table = Table(
        caption=gettext_lazy("Tax rates"),
        columns=(
            Column(name="name", label=gettext_lazy("Name")),
            Column(name="percent", label=gettext_lazy("Percent"), is_number=True),
            Column(name="inclusive", label=gettext_lazy("Prices")),
            Column(name="state", label=gettext_lazy("State")),
        ),
    )

    def get(self, request: HttpRequest) -> HttpResponse:
        rows: QuerySet[TaxRate] = TaxRate.objects.filter(workspace=self.workspace)
        state = self.read_table().fetch(rows.order_by("archived_at", "name_key", "id"))
        return self.list_page("finance/tax_rates.html", state)


class TaxRateNew(ObjectFormView[TaxRateForm]):
    nav = SETTINGS
    creates = True

    def heading(self) -> str:
        return _("New tax rate")

    def submit(self) -> str:
        return _("Add tax rate")

    def crumbs(self) -> list[Link]:
        return [(_("Invoice settings"), reverse(SETTINGS)), (_("Tax rates"), reverse(RATES))]

    def make_form(self, data: Mapping[str, object] | None = None) -> TaxRateForm:
        return TaxRateForm(data)

    def save(self, form: TaxRateForm) -> HttpResponse:
        rate = create_tax_rate(workspace=self.workspace, now=timezone.now(), by=self.by, **form.cleaned_data)
        return self.done(_("%(name)s was added.") % {"name": rate.name}, RATES)


class TaxRateDetail(DashboardView):
    """A page about one tax rate of the workspace. Malformed, unknown and foreign ids get the same answer."""

    nav = SETTINGS
    form_page = "app:tax-rate"
    rate: TaxRate

    def find(self, **ids: UUID | None) -> None:
        found = with_id(TaxRate.objects.filter(workspace=self.workspace), ids["uuid"])
        if found is None:
            raise TaxRateNotFound
        found.workspace = self.workspace
        self.rate = found

    def crumbs(self) -> list[Link]:
        return [(_("Invoice settings"), reverse(SETTINGS)), (_("Tax rates"), reverse(RATES))]


class TaxRatePage(TaxRateDetail, ObjectFormView[TaxRateForm]):
    def heading(self) -> str:
        return rate_label(self.rate)

    def submit(self) -> str:
        return _("Save")

    def links(self) -> list[Link]:
        archive = reverse("app:tax-rate-archive", args=[self.rate.uuid])
        return [] if self.rate.archived_at else [(_("Archive"), archive)]

    def make_form(self, data: Mapping[str, object] | None = None) -> TaxRateForm:
        initial = {name: getattr(self.rate, name) for name in ("name", "percent", "inclusive")}
        initial["percent"] = self.rate.percent.normalize()
        return TaxRateForm(data, initial=initial)

    def save(self, form: TaxRateForm) -> HttpResponse:
        rate = change_tax_rate(tax_rate=self.rate, now=timezone.now(), by=self.by, **form.cleaned_data)
        return self.done(_("%(name)s was saved.") % {"name": rate.name}, RATES)


class TaxRateArchive(TaxRateDetail, ConfirmView):
    def heading(self) -> str:
        return _("Archive %(name)s?") % {"name": self.rate.name}

    def submit(self) -> str:
        return _("Archive")

    def text(self) -> str:
        return _("You can no longer use it for new lines. Existing invoices keep it.")

    def save(self, form: object) -> HttpResponse:
        change_tax_rate(tax_rate=self.rate, now=timezone.now(), by=self.by, archived=True)
        return self.done(_("%(name)s was archived.") % {"name": self.rate.name}, RATES)
