from django.db import migrations, models

# Neighbours are sent to, and heard of, together: all rows of a page get a new version in one transaction, half as long
# again as they were prepared, which has to fit beside the old ones, or the indexes are written.
ROOM = "ALTER TABLE broadcasts_recipient SET (fillfactor = 30)"
NO_ROOM = "ALTER TABLE broadcasts_recipient SET (fillfactor = 70)"


class Migration(migrations.Migration):
    dependencies = [
        ("broadcasts", "0002_campaign"),
    ]

    operations = [
        migrations.RunSQL(ROOM, NO_ROOM),
        migrations.AddField(
            model_name="recipient",
            name="is_counted",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name="recipient",
            name="is_billed",
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
