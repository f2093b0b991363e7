"""Adds extended retries, the previous secret, and the queue's marks for long waits and held deliveries."""

from django.db import migrations, models

import config.encryption


class Migration(migrations.Migration):
    dependencies = [("webhooks", "0003_failures_dismissed")]

    operations = [
        migrations.RemoveIndex(model_name="queueddelivery", name="queued_waiting"),
        migrations.AddField(
            model_name="endpoint",
            name="previous_secret",
            field=config.encryption.EncryptedTextField(bound_to="uuid", null=True),
        ),
        migrations.AddField(
            model_name="endpoint", name="previous_secret_until", field=models.DateTimeField(editable=False, null=True)
        ),
        migrations.AddField(
            model_name="endpoint",
            name="retries",
            field=models.CharField(
                choices=[("standard", "Standard"), ("extended", "Extended")],
                db_default="standard",
                default="standard",
                max_length=10,
            ),
        ),
        migrations.AddField(
            model_name="queueddelivery", name="is_held", field=models.BooleanField(db_default=False, default=False)
        ),
        migrations.AddField(
            model_name="queueddelivery", name="waits_long", field=models.BooleanField(db_default=False, default=False)
        ),
        migrations.AddIndex(
            model_name="endpoint",
            index=models.Index(
                condition=models.Q(("previous_secret_until__isnull", False)),
                fields=["previous_secret_until"],
                name="endpoint_previous_secret",
            ),
        ),
        migrations.AddIndex(
            model_name="queueddelivery",
            index=models.Index(
                condition=models.Q(("is_ready", False), ("is_suspect", False)),
                fields=["waits_long", "due_at"],
                name="queued_waiting",
            ),
        ),
        migrations.AddIndex(
            model_name="queueddelivery",
            index=models.Index(condition=models.Q(("is_held", True)), fields=["agency_id"], name="queued_held"),
        ),
        migrations.AddConstraint(
            model_name="endpoint",
            constraint=models.CheckConstraint(
                condition=models.Q(("retries__in", ["standard", "extended"])), name="endpoint_retries_are_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="endpoint",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("previous_secret", None), ("previous_secret_until", None)),
                    models.Q(
                        ("previous_secret__isnull", False),
                        ("previous_secret_until__isnull", False),
                        ("removed_at", None),
                    ),
                    _connector="OR",
                ),
                name="endpoint_previous_secret_ends",
            ),
        ),
        migrations.AddConstraint(
            model_name="queueddelivery",
            constraint=models.CheckConstraint(
                condition=models.Q(("is_held", True), ("is_ready", True), _negated=True),
                name="queued_held_is_not_ready",
            ),
        ),
    ]
