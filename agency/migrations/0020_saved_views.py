"""Views of lists that people keep."""

import uuid

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("agency", "0019_mail_in_turn"),
    ]

    operations = [
        migrations.CreateModel(
            name="SavedView",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("uuid", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("area", models.UUIDField()),
                ("page", models.CharField(max_length=100)),
                ("name", models.CharField(max_length=60)),
                ("name_key", models.CharField(max_length=480)),
                ("query", models.CharField(max_length=2000)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "user",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="saved_views",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("user", "area", "page", "name_key"), name="saved_view_name_once_per_list"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("name", ""), _negated=True), models.Q(("name_key", ""), _negated=True)
                        ),
                        name="saved_view_has_a_name",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("query", ""), _negated=True), name="saved_view_asks_for_something"
                    ),
                ],
            },
        ),
    ]
