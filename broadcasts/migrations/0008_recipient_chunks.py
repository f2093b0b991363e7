"""Pages of recipients are found by the chunks in which these were prepared."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("broadcasts", "0007_begun_by_time")]

    operations = [
        migrations.CreateModel(
            name="RecipientChunk",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "broadcast_id", "up_to", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("broadcast_id", models.BigIntegerField()),
                ("up_to", models.BigIntegerField()),
                ("number", models.IntegerField()),
            ],
        ),
    ]
