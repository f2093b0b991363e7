"""Payouts of the payment provider to a workspace's bank, and what each consists of."""

from typing import Self
from uuid import UUID, uuid4

from django.db import models
from django.db.models import Q
from django.utils.timezone import now
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from workspaces.finance.models.invoices import Invoice
from workspaces.finance.models.payments import LONGEST_NOTE, LONGEST_PROVIDER_ID, Payment, ProviderAccount, Refund
from workspaces.subaccounts.models import Workspace


def in_major_units(minor: int, exponent: int) -> float:
    """Return an amount as a JSON number. Currencies of payouts have up to three decimals."""
    return float(minor / 10**exponent)


class PayoutQuerySet(models.QuerySet["Payout"]):
    def of(self, workspace: Workspace) -> Self:
        """Keep the payouts of one workspace. Every query of a view begins here."""
        return self.filter(workspace=workspace)


class Payout(models.Model):
    """Money that the provider sends to the account's bank, in minor units; below zero it takes money from the bank.

    The provider can name the transactions of an automatic payout only. `list_at` is when they are listed next,
    `listed_to` the last one that is known, `listed_at` when all were known. From then on `fees` is what the provider
    kept of them. `failure_code` and `failure_message` say why the payout failed, `failure` why a listing did not work.
    """

    class Status(models.TextChoices):
        PENDING = "pending", _("Pending")
        IN_TRANSIT = "in_transit", _("On its way")
        PAID = "paid", pgettext_lazy("payout", "Paid")
        FAILED = "failed", _("Failed")
        CANCELED = "canceled", pgettext_lazy("payout", "Cancelled")

    uuid = models.UUIDField(default=uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="payouts", db_index=False)
    account = models.ForeignKey(ProviderAccount, on_delete=models.PROTECT, related_name="payouts")
    provider_id = models.CharField(max_length=LONGEST_PROVIDER_ID)
    amount = models.BigIntegerField()
    currency = models.CharField(max_length=3)
    exponent = models.PositiveSmallIntegerField()
    status = models.CharField(max_length=20, choices=Status)
    arrives_on = models.DateField()
    automatic = models.BooleanField()
    failure_code = models.CharField(max_length=60, blank=True)
    failure_message = models.CharField(max_length=LONGEST_NOTE, blank=True)
    fees = models.BigIntegerField(null=True, blank=True)
    list_at = models.DateTimeField(null=True, blank=True)
    listed_to = models.CharField(max_length=LONGEST_PROVIDER_ID, blank=True)
    listed_at = models.DateTimeField(null=True, blank=True)
    tries = models.PositiveSmallIntegerField(default=0)
    failure = models.CharField(max_length=60, blank=True, default="")
    created_at = models.DateTimeField()
    changed_at = models.DateTimeField(default=now, editable=False)

    objects = PayoutQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "provider_id"], name="payout_once_per_workspace"),
            models.CheckConstraint(
                condition=Q(status__in=["pending", "in_transit", "paid", "failed", "canceled"]),
                name="payout_status_is_known",
            ),
            models.CheckConstraint(condition=Q(listed_at=None) | Q(fees__isnull=False), name="listed_payout_has_fees"),
        ]
        indexes = [
            models.Index(fields=["workspace", "-arrives_on", "-id"], name="payout_latest"),
            models.Index(fields=["list_at"], condition=Q(list_at__isnull=False), name="payout_to_list"),
        ]

    def __str__(self) -> str:
        return f"{self.amount} {self.currency} on {self.arrives_on}"

    @property
    def gross(self) -> int | None:
        """What the payout would be without the provider's fees, once they are known."""
        return None if self.fees is None else self.amount + self.fees

    @property
    def shown_amount(self) -> float:
        return in_major_units(self.amount, self.exponent)

    @property
    def shown_fees(self) -> float | None:
        return None if self.fees is None else in_major_units(self.fees, self.exponent)


class PayoutTransactionQuerySet(models.QuerySet["PayoutTransaction"]):
    def with_payments(self) -> Self:
        """Fetch what a page or an answer shows beside each, in the same statement."""
        return self.select_related("payout", "payment__invoice", "refund")


class PayoutTransaction(models.Model):
    """What a payout consists of, such as a payment less its fee. `provider_kind` is the provider's own word.

    `source_id` is the provider's id of what it is about. A payment that is not of an invoice has no `payment`.
    """

    class Kind(models.TextChoices):
        PAYMENT = "payment", _("Payment")
        REFUND = "refund", pgettext_lazy("payout", "Refund")
        DISPUTE = "dispute", _("Dispute")
        FEE = "fee", _("Fee")
        OTHER = "other", _("Other")

    uuid = models.UUIDField(default=uuid4, unique=True, editable=False)
    payout = models.ForeignKey(Payout, on_delete=models.PROTECT, related_name="transactions", db_index=False)
    provider_id = models.CharField(max_length=LONGEST_PROVIDER_ID)
    kind = models.CharField(max_length=20, choices=Kind)
    provider_kind = models.CharField(max_length=60)
    source_id = models.CharField(max_length=LONGEST_PROVIDER_ID, blank=True)
    payment = models.ForeignKey(
        Payment, null=True, blank=True, on_delete=models.PROTECT, related_name="payout_transactions"
    )
    refund = models.ForeignKey(
        Refund, null=True, blank=True, on_delete=models.PROTECT, related_name="payout_transactions"
    )
    description = models.CharField(max_length=200, blank=True)
    amount = models.BigIntegerField()
    fee = models.BigIntegerField()
    created_at = models.DateTimeField()

    objects = PayoutTransactionQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["payout", "provider_id"], name="payout_transaction_once")]
        indexes = [models.Index(fields=["payout", "id"], name="payout_transaction_in_order")]

    def __str__(self) -> str:
        return f"{self.amount} in {self.payout_id}"

    @property
    def payment_uuid(self) -> UUID | None:
        return self.payment.uuid if self.payment else None

    @property
    def payment_invoice(self) -> Invoice | None:
        return self.payment.invoice if self.payment else None

    @property
    def refund_uuid(self) -> UUID | None:
        return self.refund.uuid if self.refund else None

    @property
    def net(self) -> int:
        return self.amount - self.fee

    @property
    def shown_amount(self) -> float:
        return in_major_units(self.amount, self.payout.exponent)

    @property
    def shown_fee(self) -> float:
        return in_major_units(self.fee, self.payout.exponent)

    @property
    def shown_net(self) -> float:
        return in_major_units(self.net, self.payout.exponent)
