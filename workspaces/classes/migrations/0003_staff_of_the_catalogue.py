"""Classes are hosted by the catalogue's staff. The table was renamed there, so the database stays as it is."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("catalogue", "0003_staff"), ("classes", "0002_database_rules")]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    "classsession",
                    "staff",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="class_sessions",
                        to="catalogue.staff",
                    ),
                ),
                migrations.DeleteModel("Staff"),
            ]
        )
    ]
