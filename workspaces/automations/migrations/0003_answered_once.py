"""Where an automation comes from, what starts it, and that of two which would answer the same one is on."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("automations", "0002_database_rules")]

    operations = [
        migrations.AddField(
            "automation",
            "from_pack_name",
            models.CharField(blank=True, default="", max_length=120),
            preserve_default=False,
        ),
        migrations.AddField(
            "automation",
            "from_original",
            models.CharField(blank=True, default="", max_length=80),
            preserve_default=False,
        ),
        migrations.AddField(
            "automation",
            "trigger_digest",
            models.CharField(blank=True, default="", max_length=64),
            preserve_default=False,
        ),
        migrations.AddField("automation", "catch_all", models.BooleanField(default=False)),
        migrations.AddConstraint(
            "automation",
            models.UniqueConstraint(
                fields=("workspace", "platform", "from_original", "trigger_digest"),
                condition=models.Q(("enabled", True), models.Q(("from_original", ""), _negated=True)),
                name="automation_original_on_once",
            ),
        ),
        migrations.AddConstraint(
            "automation",
            models.UniqueConstraint(
                fields=("workspace", "platform", "trigger_digest"),
                condition=models.Q(("catch_all", True), ("enabled", True)),
                name="automation_catch_all_on_once",
            ),
        ),
    ]
