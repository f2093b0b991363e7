"""Broadcasts are counted by the hour in which they began."""

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("broadcasts", "0006_failed_have_a_time")]

    operations = [
        migrations.AddIndex(
            model_name="broadcast",
            index=models.Index(fields=["started_at"], condition=Q(started_at__isnull=False), name="broadcast_begun"),
        ),
    ]
