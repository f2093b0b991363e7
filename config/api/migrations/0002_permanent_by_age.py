"""Permanent keys are forgotten in the end, the oldest first."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("api", "0001_initial")]

    operations = [
        migrations.AddIndex(
            "idempotencyrecord",
            models.Index(fields=["created_at"], condition=models.Q(is_permanent=True), name="idempotency_permanent"),
        ),
    ]
