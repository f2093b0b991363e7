"""The time at which the preparation of a broadcast was given up."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("broadcasts", "0004_audienceforecast")]

    operations = [migrations.AddField("broadcast", "broke_off_at", models.DateTimeField(editable=False, null=True))]
