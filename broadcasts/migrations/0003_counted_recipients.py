from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("broadcasts", "0002_campaign"),
    ]

    operations = [
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
