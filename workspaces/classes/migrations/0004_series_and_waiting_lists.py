"""Series of classes, and waiting lists of full classes."""

import uuid

import django.contrib.postgres.fields
import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("catalogue", "0004_appointment_services"),
        ("classes", "0003_staff_of_the_catalogue"),
        ("contacts", "0002_database_rules"),
        ("subaccounts", "0002_database_rules"),
    ]

    operations = [
        migrations.CreateModel(
            name="LeftOutDate",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("date", models.DateField()),
                ("starts_at", models.DateTimeField()),
                (
                    "reason",
                    models.CharField(
                        choices=[
                            ("host_busy", "The host is busy at this time."),
                            ("refused", "The class was refused."),
                        ],
                        max_length=20,
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
            ],
        ),
        migrations.CreateModel(
            name="WaitingListEntry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
            ],
            options={"verbose_name_plural": "waiting list entries"},
        ),
        migrations.AddField(
            model_name="classsession",
            name="is_changed_alone",
            field=models.BooleanField(db_default=False, default=False, editable=False),
        ),
        migrations.AddField(
            model_name="classsession", name="series_date", field=models.DateField(blank=True, editable=False, null=True)
        ),
        migrations.CreateModel(
            name="ClassSeries",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("uuid", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("first_date", models.DateField()),
                ("start_time", models.TimeField()),
                ("timezone", models.CharField(max_length=64)),
                ("duration_minutes", models.PositiveIntegerField()),
                ("capacity", models.PositiveIntegerField()),
                ("interval", models.PositiveSmallIntegerField(default=1)),
                (
                    "unit",
                    models.CharField(
                        choices=[("days", "days"), ("weeks", "weeks"), ("months", "months")],
                        default="weeks",
                        max_length=10,
                    ),
                ),
                (
                    "weekdays",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.PositiveSmallIntegerField(), blank=True, default=list, size=None
                    ),
                ),
                ("until", models.DateField(blank=True, null=True)),
                ("count", models.PositiveSmallIntegerField(blank=True, null=True)),
                ("made_through", models.DateField(blank=True, editable=False, null=True)),
                ("due_at", models.DateTimeField(blank=True, editable=False, null=True)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ("ended_at", models.DateTimeField(blank=True, editable=False, null=True)),
                (
                    "service",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="class_series", to="catalogue.service"
                    ),
                ),
                (
                    "staff",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="class_series",
                        to="catalogue.staff",
                    ),
                ),
                (
                    "workspace",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="class_series",
                        to="subaccounts.workspace",
                    ),
                ),
            ],
            options={"verbose_name_plural": "class series"},
        ),
        migrations.AddField(
            model_name="classsession",
            name="series",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="sessions",
                to="classes.classseries",
            ),
        ),
        migrations.AddConstraint(
            model_name="classsession",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("series", None), ("series_date", None)),
                    models.Q(("series__isnull", False), ("series_date__isnull", False)),
                    _connector="OR",
                ),
                name="class_of_a_series_has_its_date",
            ),
        ),
        migrations.AddConstraint(
            model_name="classsession",
            constraint=models.UniqueConstraint(
                condition=models.Q(("series__isnull", False)),
                fields=("series", "series_date"),
                name="class_once_per_series_date",
            ),
        ),
        migrations.AddField(
            model_name="leftoutdate",
            name="series",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="left_out",
                to="classes.classseries",
            ),
        ),
        migrations.AddField(
            model_name="waitinglistentry",
            name="contact",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="class_waits", to="contacts.contact"
            ),
        ),
        migrations.AddField(
            model_name="waitinglistentry",
            name="session",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="waiting",
                to="classes.classsession",
            ),
        ),
        migrations.AddIndex(
            model_name="classseries",
            index=models.Index(fields=["workspace", "-created_at", "-id"], name="class_series_newest_first"),
        ),
        migrations.AddIndex(
            model_name="classseries",
            index=models.Index(
                condition=models.Q(("due_at__isnull", False)), fields=["due_at", "id"], name="class_series_due"
            ),
        ),
        migrations.AddConstraint(
            model_name="classseries",
            constraint=models.CheckConstraint(
                condition=models.Q(("capacity__range", (1, 10000))), name="class_series_has_seats"
            ),
        ),
        migrations.AddConstraint(
            model_name="classseries",
            constraint=models.CheckConstraint(
                condition=models.Q(("duration_minutes__range", (1, 1440))), name="class_series_lasts_a_day_at_most"
            ),
        ),
        migrations.AddConstraint(
            model_name="classseries",
            constraint=models.CheckConstraint(
                condition=models.Q(("interval__range", (1, 52)), ("unit__in", ["days", "weeks", "months"])),
                name="class_series_rule_is_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="classseries",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("unit", "weeks"), models.Q(("weekdays", []), _negated=True)),
                    models.Q(models.Q(("unit", "weeks"), _negated=True), ("weekdays", [])),
                    _connector="OR",
                ),
                name="class_series_in_weeks_has_weekdays",
            ),
        ),
        migrations.AddConstraint(
            model_name="classseries",
            constraint=models.CheckConstraint(
                condition=models.Q(("until", None), ("count", None), _connector="OR"),
                name="class_series_ends_by_date_or_by_number",
            ),
        ),
        migrations.AddConstraint(
            model_name="classseries",
            constraint=models.CheckConstraint(
                condition=models.Q(("count", None), ("count__range", (1, 200)), _connector="OR"),
                name="class_series_count_is_bounded",
            ),
        ),
        migrations.AddConstraint(
            model_name="classseries",
            constraint=models.CheckConstraint(
                condition=models.Q(("ended_at", None), ("due_at", None), _connector="OR"),
                name="ended_class_series_is_not_due",
            ),
        ),
        migrations.AddConstraint(
            model_name="leftoutdate",
            constraint=models.UniqueConstraint(fields=("series", "date"), name="left_out_once_per_date"),
        ),
        migrations.AddIndex(
            model_name="waitinglistentry", index=models.Index(fields=["session", "id"], name="waiting_list_in_order")
        ),
        migrations.AddConstraint(
            model_name="waitinglistentry",
            constraint=models.UniqueConstraint(fields=("session", "contact"), name="waits_once_per_class"),
        ),
    ]
