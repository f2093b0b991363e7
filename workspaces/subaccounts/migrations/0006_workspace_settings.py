"""What a workspace says of itself, which the texts of its automations may hold; and channels that are broken."""

from django.db import migrations, models

TEXTS = {
    "address": 500,
    "phone": 40,
    "email": 254,
    "website": 500,
    "booking_link": 500,
    "review_link": 500,
    "menu_link": 500,
}


def a_text(length: int) -> models.CharField:
    return models.CharField(blank=True, db_default="", max_length=length)


class Migration(migrations.Migration):
    dependencies = [("subaccounts", "0005_owner_pending")]

    operations = [
        migrations.AddField("workspace", "currency", models.CharField(db_default="USD", default="USD", max_length=3)),
        migrations.AddField("workspace", "opening_hours", models.JSONField(db_default={}, default=dict)),
        *[migrations.AddField("workspace", name, a_text(length)) for name, length in TEXTS.items()],
        migrations.AddIndex(
            "channel",
            models.Index(fields=["workspace"], condition=models.Q(("status", "error")), name="channel_broken"),
        ),
    ]
