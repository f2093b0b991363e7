from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("broadcasts", "0002_storage")]

    operations = [
        migrations.CreateModel(
            name="FailureStreak",
            fields=[
                ("broadcast_id", models.BigIntegerField(primary_key=True, serialize=False)),
                ("code", models.CharField(max_length=100)),
                ("number", models.IntegerField()),
            ],
        ),
        # A failing broadcast changes its row with each batch, so the page needs room for old versions.
        migrations.RunSQL(
            "ALTER TABLE broadcasts_failurestreak SET (fillfactor = 50)",
            "ALTER TABLE broadcasts_failurestreak RESET (fillfactor)",
        ),
    ]
