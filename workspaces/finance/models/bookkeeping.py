"""What a workspace decides about its invoices, and the account numbers under which they are booked."""

from typing import Final

from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Q
from django.utils.timezone import now
from django.utils.translation import gettext_lazy as _

from workspaces.finance.models.invoices import LONGEST_BUSINESS_NAME, LONGEST_TERMS, LONGEST_TEXT, LONGEST_VAT_ID
from workspaces.finance.models.parties import LONGEST_ADDRESS
from workspaces.subaccounts.models import Workspace

LONGEST_ACCOUNT: Final = 9
SMALLEST_CONSULTANT, LARGEST_CONSULTANT = 1_001, 9_999_999
LARGEST_CLIENT: Final = 99_999
SHORTEST_ACCOUNTS, LONGEST_ACCOUNTS = 4, 8
ACCOUNT_NUMBER: Final = r"\A[1-9][0-9]{2,8}\Z"
is_account_number = RegexValidator(ACCOUNT_NUMBER, _("An account number has three to nine digits."))


def account_field(number: str) -> "models.CharField[str, str]":
    """Return a field for the number of an account, with a default."""
    return models.CharField(max_length=LONGEST_ACCOUNT, validators=[is_account_number], default=number)


class FinanceSettings(models.Model):
    """What stands on a workspace's invoices: the seller's legal name, address and tax numbers, and the payment terms.

    With `shares_totals` the agency sees the totals of the workspace. A workspace without a row has the defaults.
    """

    workspace = models.OneToOneField(
        Workspace, on_delete=models.CASCADE, primary_key=True, related_name="finance_settings"
    )
    business_name = models.CharField(max_length=LONGEST_BUSINESS_NAME, blank=True)
    address = models.CharField(max_length=LONGEST_ADDRESS, blank=True)
    vat_id = models.CharField(max_length=LONGEST_VAT_ID, blank=True)
    tax_number = models.CharField(max_length=LONGEST_VAT_ID, blank=True)
    payment_details = models.CharField(max_length=LONGEST_TEXT, blank=True)
    footer = models.CharField(max_length=LONGEST_TEXT, blank=True)
    payment_days = models.PositiveIntegerField(default=14)
    shares_totals = models.BooleanField(default=False)
    changed_at = models.DateTimeField(default=now, editable=False)

    class Meta:
        verbose_name_plural = "finance settings"
        constraints = [
            models.CheckConstraint(
                condition=Q(payment_days__lte=LONGEST_TERMS), name="finance_payment_days_are_up_to_a_year"
            )
        ]

    def __str__(self) -> str:
        return f"Finance settings of {self.workspace_id}"


class BookkeepingSettings(models.Model):
    """The numbers that a DATEV file names. The defaults are those of the chart of accounts SKR03.

    `account_length` is the number of digits of the accounts of the chart; customers' accounts have one more. The
    accounts `revenue_19` and `revenue_7` get the sales at these rates, `revenue_other` those at all others. A workspace
    without a row has the defaults.
    """

    workspace = models.OneToOneField(
        Workspace, on_delete=models.CASCADE, primary_key=True, related_name="bookkeeping_settings"
    )
    consultant_number = models.PositiveIntegerField(default=SMALLEST_CONSULTANT)
    client_number = models.PositiveIntegerField(default=1)
    year_begins_in = models.PositiveSmallIntegerField(default=1)
    account_length = models.PositiveSmallIntegerField(default=4)
    receivables = account_field("10000")
    revenue_19 = account_field("8400")
    revenue_7 = account_field("8300")
    revenue_other = account_field("8200")
    revenue_reverse_charge = account_field("8337")
    cash = account_field("1000")
    bank = account_field("1200")
    provider = account_field("1360")
    fees = account_field("4970")

    class Meta:
        verbose_name_plural = "bookkeeping settings"
        constraints = [
            models.CheckConstraint(
                condition=Q(consultant_number__range=(SMALLEST_CONSULTANT, LARGEST_CONSULTANT)),
                name="bookkeeping_consultant_number_is_datevs",
            ),
            models.CheckConstraint(
                condition=Q(client_number__range=(1, LARGEST_CLIENT)), name="bookkeeping_client_number_is_datevs"
            ),
            models.CheckConstraint(condition=Q(year_begins_in__range=(1, 12)), name="bookkeeping_year_has_12_months"),
            models.CheckConstraint(
                condition=Q(account_length__range=(SHORTEST_ACCOUNTS, LONGEST_ACCOUNTS)),
                name="bookkeeping_accounts_have_4_to_8_digits",
            ),
        ]

    def __str__(self) -> str:
        return f"Bookkeeping settings of {self.workspace_id}"
