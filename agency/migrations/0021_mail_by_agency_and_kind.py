"""The e-mails that wait are found by agency and kind; those that were sent keep on which host their link is."""

from django.db import migrations, models
from django.db.models.functions import Coalesce


class Migration(migrations.Migration):
    dependencies = [
        ("agency", "0020_saved_views"),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name="mail",
            name="mail_in_turn",
        ),
        migrations.RemoveField(
            model_name="mail",
            name="is_urgent",
        ),
        migrations.AddField(
            model_name="mail",
            name="link_host",
            field=models.CharField(blank=True, db_default="", default="", max_length=253),
        ),
        migrations.AddIndex(
            model_name="mail",
            index=models.Index(
                Coalesce("agency", 0),
                models.F("kind"),
                models.F("next_attempt_at"),
                condition=models.Q(("given_up_at", None), ("sent_at", None)),
                name="mail_waiting_for",
            ),
        ),
    ]
