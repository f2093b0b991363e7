import uuid

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models

import config.encryption


class Migration(migrations.Migration):
    dependencies = [
        ("appointments", "0003_holds_outlive_contacts"),
        ("classes", "0002_database_rules"),
        ("contacts", "0002_database_rules"),
    ]

    operations = [
        migrations.AddField(
            model_name="bookingpage", name="offers_classes", field=models.BooleanField(db_default=True, default=True)
        ),
        migrations.AddField(
            model_name="visitorbooking",
            name="class_session",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="classes.classsession",
            ),
        ),
        migrations.AddField(
            model_name="visitorbooking", name="waits", field=models.BooleanField(db_default=False, default=False)
        ),
        migrations.CreateModel(
            name="ClassBooking",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("uuid", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("timezone", models.CharField(max_length=64)),
                ("language", models.CharField(blank=True, max_length=10)),
                ("calendar_sequence", models.PositiveIntegerField(default=0)),
                ("token", config.encryption.EncryptedTextField(bound_to="uuid")),
                ("token_digest", models.BinaryField(unique=True)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ("updated_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                (
                    "contact",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="contacts.contact"
                    ),
                ),
                (
                    "session",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="classes.classsession",
                    ),
                ),
            ],
            options={"indexes": [models.Index(fields=["session", "contact"], name="class_booking_of_class")]},
        ),
        migrations.AddField(
            model_name="visitorbooking",
            name="class_booking",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="appointments.classbooking",
            ),
        ),
    ]
