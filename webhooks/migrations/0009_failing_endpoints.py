"""Each endpoint says since when it fails, so that its people are notified an hour after that."""

from django.db import migrations, models
from django.db.models import F, Q


def take_newest_failure(apps, schema_editor):  # type: ignore[no-untyped-def]  # a step of a migration
    endpoints = apps.get_model("webhooks", "Endpoint").objects.filter(last_outcome="error")
    endpoints.update(failing_since=F("last_delivery_at"))


class Migration(migrations.Migration):
    dependencies = [("webhooks", "0008_new_rows_alone")]

    operations = [
        migrations.AddField("endpoint", "failing_since", models.DateTimeField(editable=False, null=True)),
        migrations.RunPython(take_newest_failure, migrations.RunPython.noop),
        migrations.AddIndex(
            "endpoint",
            models.Index(
                fields=["id"],
                condition=Q(enabled=True, removed_at=None, failing_since__isnull=False),
                name="endpoint_failing",
            ),
        ),
    ]
