"""An agency's accounts at A.I. providers, and what its customers use of them."""

import uuid
from decimal import Decimal

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from agency.models import Agency
from config.encryption import EncryptedTextField
from workspaces.subaccounts.models import Workspace

LONGEST_MODEL = 120
LONGEST_BASE_URL = 500


class AiAccount(models.Model):
    """An account at an A.I. provider, with one model of it, that an agency's automations use.

    Prices are for a million tokens, in the currency of the provider's price list; budgets are for a calendar month
    (UTC) in the same currency. `workspace_budget` bounds each sub-account; None bounds them only together.

    `failures` counts calls in a row that the provider did not answer. After some of them nobody calls until
    `stopped_until`. `refused_at` says since when the provider refuses the key, which the account has since
    `key_changed_at`.
    """

    class Provider(models.TextChoices):
        OPENAI = "openai", _("OpenAI or compatible")
        ANTHROPIC = "anthropic", _("Anthropic")

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    agency = models.ForeignKey(Agency, on_delete=models.CASCADE, related_name="+", db_index=False)
    name = models.CharField(max_length=120)
    name_key = models.CharField(max_length=480, editable=False)
    provider = models.CharField(max_length=20, choices=Provider)
    base_url = models.CharField(max_length=LONGEST_BASE_URL)
    model = models.CharField(max_length=LONGEST_MODEL)
    key = EncryptedTextField(bound_to="uuid")
    key_changed_at = models.DateTimeField(default=timezone.now, editable=False)
    is_default = models.BooleanField(default=False)
    input_price = models.DecimalField(max_digits=10, decimal_places=4, default=Decimal(0))
    output_price = models.DecimalField(max_digits=10, decimal_places=4, default=Decimal(0))
    monthly_budget = models.DecimalField(max_digits=12, decimal_places=2)
    workspace_budget = models.DecimalField(max_digits=12, decimal_places=2, null=True, blank=True)
    failures = models.IntegerField(default=0, db_default=0)
    stopped_until = models.DateTimeField(null=True, editable=False)
    refused_at = models.DateTimeField(null=True, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        verbose_name = "A.I. account"
        constraints = [
            models.UniqueConstraint(fields=["agency", "name_key"], name="ai_account_name_once"),
            models.UniqueConstraint(fields=["agency"], condition=Q(is_default=True), name="ai_account_default_once"),
            models.CheckConstraint(condition=~Q(name=""), name="ai_account_has_a_name"),
            models.CheckConstraint(
                condition=Q(input_price__gte=0, output_price__gte=0, monthly_budget__gte=0)
                & (Q(workspace_budget=None) | Q(workspace_budget__gte=0)),
                name="ai_account_amounts_are_not_negative",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class AiUsage(models.Model):
    """What was used of an account in a month: a row for each workspace, and one without a workspace for all together.

    `cost` and `reserved` are millionths of the account's currency. `reserved` is what calls in flight may cost at most.
    """

    account = models.ForeignKey(AiAccount, on_delete=models.CASCADE, related_name="usage", db_index=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, null=True, related_name="+")
    month = models.DateField()
    calls = models.BigIntegerField(default=0, db_default=0)
    input_tokens = models.BigIntegerField(default=0, db_default=0)
    output_tokens = models.BigIntegerField(default=0, db_default=0)
    cost = models.BigIntegerField(default=0, db_default=0)
    reserved = models.BigIntegerField(default=0, db_default=0)

    class Meta:
        verbose_name_plural = "A.I. usage"
        constraints = [
            models.UniqueConstraint(
                fields=["account", "month", "workspace"], nulls_distinct=False, name="ai_usage_once"
            ),
            models.CheckConstraint(condition=Q(reserved__gte=0, cost__gte=0), name="ai_usage_is_not_negative"),
        ]
        indexes = [models.Index(fields=["month"], name="ai_usage_old")]

    def __str__(self) -> str:
        return f"usage of account {self.account_id} in {self.month:%Y-%m}"


class AgencyAiBudget(models.Model):
    """The most that an agency's A.I. accounts may cost in a calendar month (UTC), all together.

    The amounts of accounts are added as they are, whatever the currency of their prices. Without a row only the
    budgets of the accounts count.
    """

    agency = models.OneToOneField(Agency, on_delete=models.CASCADE, primary_key=True, related_name="+")
    monthly_budget = models.DecimalField(max_digits=12, decimal_places=2)

    class Meta:
        verbose_name = "A.I. budget of an agency"
        verbose_name_plural = "A.I. budgets of agencies"
        constraints = [
            models.CheckConstraint(condition=Q(monthly_budget__gte=0), name="agency_ai_budget_is_not_negative")
        ]

    def __str__(self) -> str:
        return f"A.I. budget of agency {self.agency_id}"


class AgencyAiUsage(models.Model):
    """What all A.I. accounts of an agency have cost in a month, with those that were removed meanwhile.

    `cost` and `reserved` are millionths, as in `AiUsage`. `notified` is the highest per cent of the agency's budget
    that its people were notified of.
    """

    agency = models.ForeignKey(Agency, on_delete=models.CASCADE, related_name="+", db_index=False)
    month = models.DateField()
    cost = models.BigIntegerField(default=0, db_default=0)
    reserved = models.BigIntegerField(default=0, db_default=0)
    notified = models.SmallIntegerField(default=0, db_default=0)

    class Meta:
        verbose_name = "A.I. usage of an agency"
        verbose_name_plural = "A.I. usage of agencies"
        constraints = [
            models.UniqueConstraint(fields=["agency", "month"], name="agency_ai_usage_once"),
            models.CheckConstraint(condition=Q(reserved__gte=0, cost__gte=0), name="agency_ai_usage_is_not_negative"),
        ]
        indexes = [models.Index(fields=["month"], name="agency_ai_usage_old")]

    def __str__(self) -> str:
        return f"usage of agency {self.agency_id} in {self.month:%Y-%m}"
