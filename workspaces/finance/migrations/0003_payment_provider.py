"""Where payers return to, what went back from a payment, and how money goes back."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("finance", "0002_database_rules")]

    operations = [
        migrations.AddField(
            model_name="checkout", name="cancel_path", field=models.CharField(blank=True, max_length=500)
        ),
        migrations.AddField(
            model_name="checkout", name="success_path", field=models.CharField(blank=True, max_length=500)
        ),
        migrations.AddField(
            model_name="payment", name="disputed", field=models.BigIntegerField(default=0, editable=False)
        ),
        migrations.AddField(
            model_name="payment", name="refunded", field=models.BigIntegerField(default=0, editable=False)
        ),
        migrations.AddField(
            model_name="refund",
            name="method",
            field=models.CharField(
                choices=[
                    ("cash", "Cash"),
                    ("bank_transfer", "Bank transfer"),
                    ("card", "Card"),
                    ("stripe", "Stripe"),
                    ("other", "Other"),
                ],
                default="other",
                max_length=20,
            ),
        ),
        migrations.AddIndex(
            model_name="providerevent",
            index=models.Index(
                condition=models.Q(("due_at__isnull", False)),
                fields=["account", "due_at"],
                name="provider_event_due_of_account",
            ),
        ),
    ]
