"""Adds a stored size to segments that take long to count."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("contacts", "0005_contact_tags")]

    operations = [
        migrations.AddField("segment", "counted_size", models.IntegerField(editable=False, null=True)),
        migrations.AddField("segment", "counted_at", models.DateTimeField(editable=False, null=True)),
        migrations.AddField("segment", "recount_asked_at", models.DateTimeField(editable=False, null=True)),
        migrations.AddIndex(
            "segment",
            models.Index(
                fields=["recount_asked_at"],
                condition=models.Q(recount_asked_at__isnull=False),
                name="segment_to_recount",
            ),
        ),
    ]
