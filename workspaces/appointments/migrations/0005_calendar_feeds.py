import uuid

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models

import config.encryption


class Migration(migrations.Migration):
    dependencies = [
        ("appointments", "0004_class_bookings"),
        ("catalogue", "0002_database_rules"),
        ("subaccounts", "0002_database_rules"),
    ]

    operations = [
        migrations.CreateModel(
            name="CalendarFeed",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("uuid", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("token", config.encryption.EncryptedTextField(bound_to="uuid")),
                ("token_digest", models.BinaryField(unique=True)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ("last_fetched_at", models.DateTimeField(blank=True, editable=False, null=True)),
                (
                    "staff",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="calendar_feed", to="catalogue.staff"
                    ),
                ),
                (
                    "workspace",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="calendar_feeds",
                        to="subaccounts.workspace",
                    ),
                ),
            ],
        )
    ]
