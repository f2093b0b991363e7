from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("channelconnect", "0008_throughput"),
    ]

    operations = [
        migrations.AddField(
            model_name="allowance",
            name="reserved",
            field=models.IntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name="allowance",
            name="reserved_until",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="allowanceuse",
            name="sends",
            field=models.IntegerField(db_default=1, default=1),
        ),
    ]
