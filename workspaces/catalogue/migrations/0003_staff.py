"""The staff move from the classes to the catalogue, because services name who provides them."""

import uuid

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("catalogue", "0002_database_rules"),
        ("classes", "0002_database_rules"),
        ("subaccounts", "0002_database_rules"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    "ALTER TABLE classes_staff RENAME TO catalogue_staff",
                    "ALTER TABLE catalogue_staff RENAME TO classes_staff",
                )
            ],
            state_operations=[
                migrations.CreateModel(
                    name="Staff",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("uuid", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                        (
                            "workspace",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="staff",
                                to="subaccounts.workspace",
                            ),
                        ),
                        ("name", models.CharField(max_length=120)),
                        ("name_key", models.CharField(editable=False, max_length=480)),
                        ("email", models.CharField(blank=True, max_length=254, null=True)),
                        ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                        ("deleted_at", models.DateTimeField(blank=True, editable=False, null=True)),
                    ],
                    options={
                        "verbose_name_plural": "staff",
                        "constraints": [
                            models.UniqueConstraint(
                                condition=models.Q(("deleted_at", None)),
                                fields=("workspace", "name_key"),
                                name="staff_name_once_per_workspace",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("name", ""), _negated=True), name="staff_has_a_name"
                            ),
                        ],
                    },
                )
            ],
        )
    ]
