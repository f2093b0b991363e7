"""A job that breaks off too often has failed."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("agency", "0006_sign_ups_looked_up")]

    operations = [
        migrations.AlterField(
            model_name="bulkoperation",
            name="state",
            field=models.CharField(
                choices=[
                    ("waiting", "Waiting"),
                    ("running", "Running"),
                    ("completed", "Completed"),
                    ("cancelled", "Cancelled"),
                    ("stopped", "Stopped"),
                    ("failed", "Failed"),
                ],
                default="waiting",
                max_length=10,
            ),
        ),
        migrations.AlterField(
            model_name="export",
            name="state",
            field=models.CharField(
                choices=[
                    ("waiting", "Waiting"),
                    ("running", "Running"),
                    ("completed", "Completed"),
                    ("cancelled", "Cancelled"),
                    ("stopped", "Stopped"),
                    ("failed", "Failed"),
                ],
                default="waiting",
                max_length=10,
            ),
        ),
    ]
