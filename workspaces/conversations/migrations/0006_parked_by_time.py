"""Changes that were parked lately, by their index."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("conversations", "0005_read_marks_and_parked_changes")]

    operations = [
        migrations.AddIndex(
            model_name="parkedchange",
            index=models.Index(fields=["parked_at"], name="parked_change_newest"),
        ),
    ]
