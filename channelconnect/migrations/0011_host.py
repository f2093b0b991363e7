"""On which host a customer goes their way to the provider."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("channelconnect", "0010_media_uploads")]

    operations = [
        migrations.AddField("connectsession", "host", models.CharField(blank=True, default="", max_length=253)),
    ]
