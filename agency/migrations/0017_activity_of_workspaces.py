"""Who of a workspace's own people has made a change is written down with it."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("agency", "0016_mail")]

    operations = [
        migrations.AddField(
            model_name="activityentry",
            name="of_workspace",
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
