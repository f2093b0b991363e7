"""The log's filters: which workspace a delivery's event is about, and an index for each question."""

from django.db import migrations, models
from django.db.models import Q

# Automatic deliveries have their event, tests none; whoever redelivered one has its envelope's id alone.
ABOUT = """
UPDATE webhooks_delivery delivery SET workspace_uuid = event.workspace_uuid
FROM agency_event event WHERE event.uuid = delivery.envelope_id AND event.workspace_uuid IS NOT NULL
"""


class Migration(migrations.Migration):
    dependencies = [("webhooks", "0005_secrets_bound_to_rows")]

    operations = [
        migrations.AddField("delivery", "workspace_uuid", models.UUIDField(null=True)),
        migrations.RunSQL(ABOUT, migrations.RunSQL.noop),
        migrations.RemoveIndex("delivery", "delivery_failed_since"),
        migrations.RemoveIndex("delivery", "delivery_again"),
        migrations.AddIndex(
            "delivery",
            models.Index(fields=["envelope_id", "endpoint"], condition=~Q(kind="automatic"), name="delivery_again"),
        ),
        migrations.AddIndex(
            "delivery",
            models.Index(
                fields=["endpoint", "-id"], condition=Q(failed_at__isnull=False), name="delivery_failed_of_endpoint"
            ),
        ),
        migrations.AddIndex(
            "delivery",
            models.Index(
                fields=["agency", "event_name", "-id"],
                condition=Q(failed_at__isnull=False) & Q(workspace_id__isnull=True),
                name="delivery_failed_of_event_name",
            ),
        ),
        migrations.AddIndex(
            "delivery",
            models.Index(
                fields=["agency", "workspace_uuid", "-id"],
                condition=Q(workspace_id__isnull=True) & Q(workspace_uuid__isnull=False),
                name="delivery_about_workspace",
            ),
        ),
    ]
