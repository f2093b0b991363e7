"""The plan that a new sub-account takes where none is named."""

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("agency", "0006_retention")]

    operations = [
        migrations.AddField("plan", "is_default", models.BooleanField(db_default=False, default=False, editable=False)),
        migrations.AddConstraint(
            "plan",
            models.UniqueConstraint(
                condition=Q(is_default=True), fields=("agency",), name="plan_one_default_per_agency"
            ),
        ),
        migrations.AddConstraint(
            "plan",
            models.CheckConstraint(
                condition=Q(is_default=False) | Q(archived_at=None), name="plan_default_is_not_archived"
            ),
        ),
    ]
