"""An agency's connections of one platform, or in one state, are listed without reading all of them."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("channelconnect", "0012_sessions_of_moved_workspaces")]

    operations = [
        migrations.AddIndex(
            "connectsession",
            models.Index(fields=["agency", "platform", "-id"], name="connect_newest_of_platform"),
        ),
        migrations.AddIndex(
            "connectsession",
            models.Index(fields=["agency", "status", "-id"], name="connect_newest_of_status"),
        ),
    ]
