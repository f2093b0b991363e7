"""Payouts of the payment provider, and what is known of an account's right to read them."""

import uuid

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models

from config.postgresql.migrations import CreateModels


class Migration(migrations.Migration):
    dependencies = [("finance", "0004_account_looks"), ("subaccounts", "0002_database_rules")]

    operations = [
        migrations.AddField(
            model_name="provideraccount",
            name="payouts_refused_at",
            field=models.DateTimeField(blank=True, editable=False, null=True),
        ),
        CreateModels(
            [
                migrations.CreateModel(
                    name="Payout",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("uuid", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                        ("provider_id", models.CharField(max_length=255)),
                        ("amount", models.BigIntegerField()),
                        ("currency", models.CharField(max_length=3)),
                        ("exponent", models.PositiveSmallIntegerField()),
                        (
                            "status",
                            models.CharField(
                                choices=[
                                    ("pending", "Pending"),
                                    ("in_transit", "On its way"),
                                    ("paid", "Paid"),
                                    ("failed", "Failed"),
                                    ("canceled", "Cancelled"),
                                ],
                                max_length=20,
                            ),
                        ),
                        ("arrives_on", models.DateField()),
                        ("automatic", models.BooleanField()),
                        ("failure_code", models.CharField(blank=True, max_length=60)),
                        ("failure_message", models.CharField(blank=True, max_length=500)),
                        ("fees", models.BigIntegerField(blank=True, null=True)),
                        ("list_at", models.DateTimeField(blank=True, null=True)),
                        ("listed_to", models.CharField(blank=True, max_length=255)),
                        ("listed_at", models.DateTimeField(blank=True, null=True)),
                        ("tries", models.PositiveSmallIntegerField(default=0)),
                        ("failure", models.CharField(blank=True, default="", max_length=60)),
                        ("created_at", models.DateTimeField()),
                        ("changed_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                        (
                            "account",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="payouts",
                                to="finance.provideraccount",
                            ),
                        ),
                        (
                            "workspace",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="payouts",
                                to="subaccounts.workspace",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(fields=["workspace", "-arrives_on", "-id"], name="payout_latest"),
                            models.Index(
                                condition=models.Q(("list_at__isnull", False)),
                                fields=["list_at"],
                                name="payout_to_list",
                            ),
                        ],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("workspace", "provider_id"), name="payout_once_per_workspace"
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("status__in", ["pending", "in_transit", "paid", "failed", "canceled"])
                                ),
                                name="payout_status_is_known",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("listed_at", None), ("fees__isnull", False), _connector="OR"),
                                name="listed_payout_has_fees",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="PayoutTransaction",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("uuid", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                        ("provider_id", models.CharField(max_length=255)),
                        (
                            "kind",
                            models.CharField(
                                choices=[
                                    ("payment", "Payment"),
                                    ("refund", "Refund"),
                                    ("dispute", "Dispute"),
                                    ("fee", "Fee"),
                                    ("other", "Other"),
                                ],
                                max_length=20,
                            ),
                        ),
                        ("provider_kind", models.CharField(max_length=60)),
                        ("source_id", models.CharField(blank=True, max_length=255)),
                        ("description", models.CharField(blank=True, max_length=200)),
                        ("amount", models.BigIntegerField()),
                        ("fee", models.BigIntegerField()),
                        ("created_at", models.DateTimeField()),
                        (
                            "payment",
                            models.ForeignKey(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="payout_transactions",
                                to="finance.payment",
                            ),
                        ),
                        (
                            "payout",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="transactions",
                                to="finance.payout",
                            ),
                        ),
                        (
                            "refund",
                            models.ForeignKey(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="payout_transactions",
                                to="finance.refund",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [models.Index(fields=["payout", "id"], name="payout_transaction_in_order")],
                        "constraints": [
                            models.UniqueConstraint(fields=("payout", "provider_id"), name="payout_transaction_once")
                        ],
                    },
                ),
            ]
        ),
    ]
