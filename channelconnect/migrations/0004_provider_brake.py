from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("channelconnect", "0003_access_checks")]

    operations = [
        migrations.CreateModel(
            name="ProviderBrake",
            fields=[
                ("scope", models.CharField(max_length=100, primary_key=True, serialize=False)),
                ("share", models.FloatField()),
                ("pulled_at", models.DateTimeField()),
                ("stopped_until", models.DateTimeField()),
                ("pulls", models.BigIntegerField()),
            ],
        )
    ]
