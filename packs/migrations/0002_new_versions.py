"""Adds the installed version of each automation, and the digest of copied flows."""

import hashlib

import django.db.models.deletion
import django.utils.timezone
import orjson
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import Q


def add_digests(apps: Apps, _editor: BaseDatabaseSchemaEditor) -> None:
    rows = apps.get_model("packs", "PackEntry").objects.filter(source="custom").only("flow")
    for row in rows.iterator(chunk_size=100):
        row.flow_digest = hashlib.sha256(orjson.dumps(row.flow, option=orjson.OPT_SORT_KEYS)).hexdigest()
        row.save(update_fields=["flow_digest"])


class Migration(migrations.Migration):
    dependencies = [("automations", "0006_draft_revisions"), ("packs", "0001_initial")]

    operations = [
        migrations.CreateModel(
            name="InstalledFlow",
            fields=[
                (
                    "automation",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="installed_flow",
                        serialize=False,
                        to="automations.automation",
                    ),
                ),
                ("flow", models.JSONField()),
                ("digest", models.CharField(max_length=64)),
                ("declined_digest", models.CharField(blank=True, max_length=64)),
                ("taken_at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                "constraints": [models.CheckConstraint(condition=~Q(digest=""), name="installed_flow_has_a_digest")]
            },
        ),
        migrations.AddField(
            model_name="packentry",
            name="flow_digest",
            field=models.CharField(blank=True, default="", editable=False, max_length=64),
            preserve_default=False,
        ),
        migrations.RunPython(add_digests, migrations.RunPython.noop),
    ]
