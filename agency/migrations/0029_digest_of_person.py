"""What waits for one person's e-mail of the day is found without reading what waits for others."""

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("agency", "0028_workspace_activity_filters")]

    operations = [
        migrations.AddIndex(
            "notification",
            models.Index(
                fields=["user", "-id"],
                condition=Q(way="digest", mail_due_at__isnull=False),
                name="notification_digest_of_person",
            ),
        ),
    ]
