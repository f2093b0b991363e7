"""What WhatsApp says of a number: how many people it may write to first, and how content they are."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("subaccounts", "0006_workspace_settings")]

    operations = [
        migrations.AddField(model_name="channel", name="messaging_limit", field=models.IntegerField(null=True)),
        migrations.AddField(
            model_name="channel",
            name="quality",
            field=models.CharField(
                choices=[("GREEN", "High"), ("YELLOW", "Medium"), ("RED", "Low"), ("UNKNOWN", "Unknown")],
                db_default="UNKNOWN",
                default="UNKNOWN",
                max_length=10,
            ),
        ),
        migrations.AddConstraint(
            model_name="channel",
            constraint=models.CheckConstraint(
                condition=models.Q(("quality__in", ["GREEN", "YELLOW", "RED", "UNKNOWN"])),
                name="channel_quality_is_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="channel",
            constraint=models.CheckConstraint(
                condition=models.Q(("messaging_limit__gte", 0)), name="channel_limit_is_not_negative"
            ),
        ),
    ]
