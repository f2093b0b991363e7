"""When to ask a provider whether a channel's token is still good, and when it last said so."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("channelconnect", "0002_database_rules")]

    operations = [
        migrations.AddField("channelcredential", "access_check_due_at", models.DateTimeField(null=True)),
        migrations.AddField("channelcredential", "access_checked_at", models.DateTimeField(null=True)),
        migrations.AddIndex(
            "channelcredential",
            models.Index(
                fields=["access_check_due_at"],
                condition=models.Q(("access_check_due_at__isnull", False)),
                name="credential_access_check_due",
            ),
        ),
    ]
