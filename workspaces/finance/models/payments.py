"""Payments, refunds and disputes; the provider's account, its checkouts and its events."""

import uuid
from typing import Self

from django.db import models
from django.db.models import Q
from django.utils.timezone import now
from django.utils.translation import gettext_lazy as _

from config.encryption import EncryptedTextField
from workspaces.finance.models.invoices import Invoice, as_number
from workspaces.subaccounts.models import Workspace

LONGEST_PROVIDER_ID = 255
LONGEST_NOTE = 500
LONGEST_PATH = 500


class ProviderAccount(models.Model):
    """A workspace's account at a payment provider, with the restricted key of its owner.

    `endpoint_id` is the provider's id of our webhook endpoint there, and `webhook_secret` signs what it sends.
    `failure` is the code of what keeps the account from working, empty while it works; `endpoint_failure` says why no
    webhooks come. At `look_at` the provider's list of events is read, for those whose webhooks were lost. All events
    until `looked_until` are stored. A look that has begun goes on at `look_cursor`: the list's name, and after a colon
    the id of its last row that was read. `payouts_refused_at` is when the key was refused to read payouts.
    """

    class Provider(models.TextChoices):
        STRIPE = "stripe", _("Stripe")

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="payment_accounts", db_index=False)
    provider = models.CharField(max_length=20, choices=Provider, default=Provider.STRIPE)
    name = models.CharField(max_length=200, blank=True)
    account_id = models.CharField(max_length=LONGEST_PROVIDER_ID, blank=True)
    live = models.BooleanField(default=False)
    key = EncryptedTextField(bound_to="uuid", null=True)
    key_hint = models.CharField(max_length=20, blank=True)
    endpoint_id = models.CharField(max_length=LONGEST_PROVIDER_ID, blank=True)
    webhook_secret = EncryptedTextField(bound_to="uuid", null=True)
    payouts_refused_at = models.DateTimeField(null=True, blank=True, editable=False)
    failure = models.CharField(max_length=40, blank=True, default="")
    failing_since = models.DateTimeField(null=True, blank=True)
    endpoint_failure = models.CharField(max_length=40, blank=True, default="")
    look_at = models.DateTimeField(null=True, blank=True)
    looked_until = models.DateTimeField(null=True, blank=True)
    look_began_at = models.DateTimeField(null=True, blank=True)
    look_cursor = models.CharField(max_length=LONGEST_PROVIDER_ID + 20, blank=True, default="")
    look_tries = models.PositiveSmallIntegerField(default=0)
    look_failure = models.CharField(max_length=60, blank=True, default="")
    created_at = models.DateTimeField(default=now, editable=False)
    disconnected_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "provider"],
                condition=Q(disconnected_at=None),
                name="provider_account_once_per_workspace",
            ),
            models.CheckConstraint(
                condition=Q(disconnected_at=None) | Q(key=None), name="provider_account_forgets_its_key"
            ),
            models.CheckConstraint(
                condition=Q(disconnected_at=None) | Q(look_at=None), name="provider_account_of_the_past_has_no_look"
            ),
        ]
        indexes = [
            models.Index(fields=["look_at"], condition=Q(look_at__isnull=False), name="provider_account_to_look")
        ]

    def __str__(self) -> str:
        return f"{self.provider} of {self.workspace_id}"


class Checkout(models.Model):
    """One attempt to pay an invoice at the provider. Its uuid is the idempotency key of the provider's call.

    It is stored before the provider is called: `starting`. `open` has an `address` to which the payer goes. An invoice
    has at most one that is starting, open or being paid. Payers return to `success_path` or `cancel_path`, below the
    workspace's public address. `check_at` is when the provider is asked about it next.
    """

    class Status(models.TextChoices):
        STARTING = "starting", _("Starting")
        OPEN = "open", _("Open")
        PROCESSING = "processing", _("Being paid")
        PAID = "paid", _("Paid")
        EXPIRED = "expired", _("Expired")
        FAILED = "failed", _("Failed")

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    invoice = models.ForeignKey(Invoice, on_delete=models.PROTECT, related_name="checkouts")
    account = models.ForeignKey(ProviderAccount, on_delete=models.PROTECT, related_name="checkouts")
    status = models.CharField(max_length=20, choices=Status, default=Status.STARTING)
    amount = models.BigIntegerField()
    currency = models.CharField(max_length=3)
    provider_id = models.CharField(max_length=LONGEST_PROVIDER_ID, blank=True)
    address = models.CharField(max_length=2_048, blank=True)
    success_path = models.CharField(max_length=LONGEST_PATH, blank=True)
    cancel_path = models.CharField(max_length=LONGEST_PATH, blank=True)
    failure = models.CharField(max_length=60, blank=True, default="")
    expires_at = models.DateTimeField()
    check_at = models.DateTimeField(null=True, blank=True)
    tries = models.PositiveSmallIntegerField(default=0)
    created_at = models.DateTimeField(default=now, editable=False)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["invoice"],
                condition=Q(status__in=["starting", "open", "processing"]),
                name="checkout_one_open_per_invoice",
            ),
            models.UniqueConstraint(
                fields=["account", "provider_id"], condition=~Q(provider_id=""), name="checkout_once_per_provider_id"
            ),
            models.CheckConstraint(condition=Q(amount__gt=0), name="checkout_amount_is_positive"),
        ]
        indexes = [models.Index(fields=["check_at"], condition=Q(check_at__isnull=False), name="checkout_to_check")]

    def __str__(self) -> str:
        return f"Checkout of {self.invoice_id}: {self.status}"


class PaymentQuerySet(models.QuerySet["Payment"]):
    def of(self, workspace: Workspace) -> Self:
        """Keep the payments of one workspace. Every query of a view begins here."""
        return self.filter(workspace=workspace)


class Payment(models.Model):
    """Money that arrived for an invoice, in minor units of its currency.

    `provider_id` is the provider's id of the payment, empty for one that was entered by hand. `fee` is what the
    provider kept, if it says so. `refunded` adds up its refunds that are pending or succeeded, and `disputed` its
    withdrawn disputes. Nothing else of a row changes.
    """

    class Method(models.TextChoices):
        CASH = "cash", _("Cash")
        BANK_TRANSFER = "bank_transfer", _("Bank transfer")
        CARD = "card", _("Card")
        STRIPE = "stripe", _("Stripe")
        OTHER = "other", _("Other")

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="payments", db_index=False)
    invoice = models.ForeignKey(Invoice, on_delete=models.PROTECT, related_name="payments", db_index=False)
    amount = models.BigIntegerField()
    currency = models.CharField(max_length=3)
    method = models.CharField(max_length=20, choices=Method)
    account = models.ForeignKey(
        ProviderAccount, null=True, blank=True, on_delete=models.PROTECT, related_name="payments", db_index=False
    )
    provider_id = models.CharField(max_length=LONGEST_PROVIDER_ID, blank=True)
    checkout = models.OneToOneField(Checkout, null=True, blank=True, on_delete=models.PROTECT, related_name="payment")
    fee = models.BigIntegerField(null=True, blank=True)
    refunded = models.BigIntegerField(default=0, editable=False)
    disputed = models.BigIntegerField(default=0, editable=False)
    note = models.CharField(max_length=LONGEST_NOTE, blank=True)
    received_at = models.DateTimeField()
    created_at = models.DateTimeField(default=now, editable=False)

    objects = PaymentQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(amount__gt=0), name="payment_amount_is_positive"),
            models.UniqueConstraint(
                fields=["account", "provider_id"], condition=~Q(provider_id=""), name="payment_once_per_provider_id"
            ),
            models.CheckConstraint(
                condition=Q(account=None, provider_id="") | (Q(account__isnull=False) & ~Q(provider_id="")),
                name="payment_of_a_provider_has_its_id",
            ),
        ]
        indexes = [
            models.Index(fields=["invoice", "id"], name="payment_of_invoice"),
            models.Index(fields=["workspace", "-received_at", "-id"], name="payment_newest"),
        ]

    def __str__(self) -> str:
        return f"{self.amount} {self.currency} for {self.invoice_id}"

    @property
    def status(self) -> str:
        """What became of the money: received, partially_refunded, refunded or disputed."""
        if self.disputed:
            return "disputed"
        if not self.refunded:
            return "received"
        return "refunded" if self.refunded >= self.amount else "partially_refunded"

    @property
    def left(self) -> int:
        """What can still go back to the payer."""
        return max(0, self.amount - self.refunded - self.disputed)

    @property
    def shown_amount(self) -> float:
        return as_number(self.amount, self.invoice.exponent)

    @property
    def shown_refunded(self) -> float:
        return as_number(self.refunded, self.invoice.exponent)


class Refund(models.Model):
    """Money that goes back from a payment. Its uuid is the idempotency key of the provider's call.

    A pending refund is already subtracted from what is paid; a failed one no more. `call_at` is when the provider is
    called next: to pay it back, or to ask what became of it.
    """

    class Status(models.TextChoices):
        PENDING = "pending", _("Pending")
        SUCCEEDED = "succeeded", _("Succeeded")
        FAILED = "failed", _("Failed")

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    payment = models.ForeignKey(Payment, on_delete=models.PROTECT, related_name="refunds", db_index=False)
    amount = models.BigIntegerField()
    method = models.CharField(max_length=20, choices=Payment.Method, default=Payment.Method.OTHER)
    status = models.CharField(max_length=20, choices=Status, default=Status.PENDING)
    provider_id = models.CharField(max_length=LONGEST_PROVIDER_ID, blank=True)
    reason = models.CharField(max_length=LONGEST_NOTE, blank=True)
    failure = models.CharField(max_length=60, blank=True, default="")
    call_at = models.DateTimeField(null=True, blank=True)
    tries = models.PositiveSmallIntegerField(default=0)
    created_at = models.DateTimeField(default=now, editable=False)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(amount__gt=0), name="refund_amount_is_positive"),
            models.UniqueConstraint(
                fields=["payment", "provider_id"], condition=~Q(provider_id=""), name="refund_once_per_provider_id"
            ),
            models.CheckConstraint(
                condition=Q(status__in=["pending", "succeeded", "failed"]), name="refund_status_is_known"
            ),
        ]
        indexes = [
            models.Index(fields=["payment", "id"], name="refund_of_payment"),
            models.Index(fields=["call_at"], condition=Q(call_at__isnull=False), name="refund_to_call"),
        ]

    def __str__(self) -> str:
        return f"{self.amount} back from {self.payment_id}"

    @property
    def shown_amount(self) -> float:
        return as_number(self.amount, self.payment.invoice.exponent)


class Dispute(models.Model):
    """A payment that the payer's bank contests. While `withdrawn`, the provider has taken the amount back."""

    payment = models.ForeignKey(Payment, on_delete=models.PROTECT, related_name="disputes")
    provider_id = models.CharField(max_length=LONGEST_PROVIDER_ID)
    amount = models.BigIntegerField()
    status = models.CharField(max_length=40)
    reason = models.CharField(max_length=60, blank=True)
    withdrawn = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=now, editable=False)
    changed_at = models.DateTimeField(default=now, editable=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["payment", "provider_id"], name="dispute_once_per_provider_id")]

    def __str__(self) -> str:
        return f"Dispute of {self.payment_id}"


class ProviderEvent(models.Model):
    """A notice of the provider that something happened. The object that it names is fetched before anything changes.

    `due_at` is when it is handled next, empty once it is handled or given up; `tries` counts handlings that began.
    """

    account = models.ForeignKey(ProviderAccount, on_delete=models.PROTECT, related_name="events", db_index=False)
    event_id = models.CharField(max_length=LONGEST_PROVIDER_ID)
    kind = models.CharField(max_length=80)
    object_id = models.CharField(max_length=LONGEST_PROVIDER_ID)
    received_at = models.DateTimeField(default=now, editable=False)
    due_at = models.DateTimeField(null=True, blank=True)
    tries = models.PositiveSmallIntegerField(default=0)
    handled_at = models.DateTimeField(null=True, blank=True)
    failure = models.CharField(max_length=60, blank=True, default="")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["account", "event_id"], name="provider_event_once")]
        indexes = [
            models.Index(fields=["due_at"], condition=Q(due_at__isnull=False), name="provider_event_due"),
            models.Index(
                fields=["account", "due_at"], condition=Q(due_at__isnull=False), name="provider_event_due_of_account"
            ),
            models.Index(fields=["received_at"], name="provider_event_by_age"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.event_id}"
