"""Notices are read in batches: which readings have begun, which notices are to be read again and when."""

import django.contrib.postgres.fields
from django.db import migrations, models

# A notice is written twice: when it comes and when it is read. What was read leaves dead entries at the front of the
# indexes that readers begin at, so they are cleaned after every few thousand.
STORED = """
ALTER TABLE channelconnect_providernotice SET (
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0,
    autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 50000
);
"""
AS_USUAL = """
ALTER TABLE channelconnect_providernotice RESET (
    autovacuum_vacuum_scale_factor, autovacuum_vacuum_threshold, autovacuum_vacuum_cost_delay,
    autovacuum_analyze_scale_factor, autovacuum_analyze_threshold
);
"""


class Migration(migrations.Migration):
    dependencies = [("channelconnect", "0004_disconnection")]

    operations = [
        migrations.CreateModel(
            name="ReadingAttempt",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "notices",
                    django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), size=None),
                ),
                ("begun_at", models.DateTimeField()),
            ],
        ),
        migrations.RemoveIndex(model_name="providernotice", name="notice_to_read"),
        migrations.AddField(model_name="providernotice", name="due_at", field=models.DateTimeField(null=True)),
        migrations.AddIndex(
            model_name="providernotice",
            index=models.Index(condition=models.Q(("read_at", None), ("tries", 0)), fields=["id"], name="notice_new"),
        ),
        migrations.AddIndex(
            model_name="providernotice",
            index=models.Index(
                condition=models.Q(("read_at", None), ("tries__gt", 0)),
                fields=["tries", "due_at"],
                name="notice_to_read_again",
            ),
        ),
        migrations.RunSQL(STORED, AS_USUAL),
    ]
