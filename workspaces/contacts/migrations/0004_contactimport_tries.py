from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("contacts", "0003_last_words")]

    operations = [
        migrations.AddField(
            model_name="contactimport", name="tries", field=models.SmallIntegerField(db_default=0, default=0)
        ),
        migrations.AlterField(
            model_name="contactimport",
            name="status",
            field=models.CharField(
                choices=[
                    ("uploaded", "Columns to be chosen"),
                    ("running", "Running"),
                    ("completed", "Completed"),
                    ("cancelled", "Cancelled"),
                    ("failed", "Failed"),
                ],
                default="uploaded",
                max_length=10,
            ),
        ),
    ]
