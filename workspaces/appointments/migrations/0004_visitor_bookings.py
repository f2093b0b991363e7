"""What visitors type on the booking page, the language in which they saw it, and when to look at deposits."""

import uuid

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("appointments", "0003_classes_occupy_their_hosts"),
        ("catalogue", "0004_appointment_services"),
        ("subaccounts", "0006_search_by_external_id"),
    ]

    operations = [
        migrations.AddField(
            model_name="appointment",
            name="language",
            field=models.CharField(blank=True, db_default="", default="", max_length=10),
        ),
        migrations.AddField(model_name="hold", name="check_at", field=models.DateTimeField(blank=True, null=True)),
        migrations.AddField(model_name="hold", name="refunded_at", field=models.DateTimeField(blank=True, null=True)),
        migrations.AddIndex(
            model_name="hold",
            index=models.Index(
                condition=models.Q(("check_at__isnull", False)), fields=["check_at"], name="hold_to_check"
            ),
        ),
        migrations.CreateModel(
            name="VisitorBooking",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("uuid", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("starts_at", models.DateTimeField()),
                ("timezone", models.CharField(max_length=64)),
                ("language", models.CharField(blank=True, max_length=10)),
                ("name", models.CharField(max_length=120)),
                ("email", models.CharField(max_length=254)),
                ("phone", models.CharField(blank=True, max_length=40)),
                ("note", models.CharField(blank=True, max_length=1000)),
                ("tries", models.PositiveSmallIntegerField(default=0)),
                ("expires_at", models.DateTimeField()),
                ("verified_at", models.DateTimeField(null=True)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                (
                    "appointment",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="appointments.appointment",
                    ),
                ),
                (
                    "hold",
                    models.OneToOneField(
                        null=True, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="appointments.hold"
                    ),
                ),
                (
                    "service",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="catalogue.service",
                    ),
                ),
                (
                    "staff",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="catalogue.staff",
                    ),
                ),
                (
                    "workspace",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="subaccounts.workspace",
                    ),
                ),
            ],
            options={"indexes": [models.Index(fields=["email", "created_at"], name="visitor_booking_of_address")]},
        ),
    ]
