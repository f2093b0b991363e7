from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("broadcasts", "0005_failed_have_a_time"),
    ]

    operations = [
        ValidateConstraint(model_name="recipient", name="recipient_that_failed_has_a_time"),
    ]
