"""How services are booked, and who provides them."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("catalogue", "0003_staff"), ("subaccounts", "0002_database_rules")]

    operations = [
        migrations.AddField(
            model_name="service", name="bookable", field=models.BooleanField(db_default=True, default=True)
        ),
        migrations.AddField(
            model_name="service", name="buffer_after", field=models.PositiveIntegerField(db_default=0, default=0)
        ),
        migrations.AddField(
            model_name="service", name="buffer_before", field=models.PositiveIntegerField(db_default=0, default=0)
        ),
        migrations.AddField(
            model_name="service",
            name="deposit",
            field=models.DecimalField(blank=True, decimal_places=2, max_digits=12, null=True),
        ),
        migrations.AddField(
            model_name="service", name="horizon_days", field=models.PositiveIntegerField(db_default=60, default=60)
        ),
        migrations.AddField(
            model_name="service", name="notice_minutes", field=models.PositiveIntegerField(db_default=0, default=0)
        ),
        migrations.AddField(
            model_name="service", name="step_minutes", field=models.PositiveIntegerField(db_default=15, default=15)
        ),
        migrations.CreateModel(
            name="ServiceStaff",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "service",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="provided_by",
                        to="catalogue.service",
                    ),
                ),
                (
                    "staff",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="provided_services",
                        to="catalogue.staff",
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="service",
            name="staff",
            field=models.ManyToManyField(
                related_name="services", through="catalogue.ServiceStaff", to="catalogue.staff"
            ),
        ),
        migrations.AddConstraint(
            model_name="service",
            constraint=models.CheckConstraint(
                condition=models.Q(("buffer_after__lte", 720), ("buffer_before__lte", 720)),
                name="service_buffers_are_up_to_half_a_day",
            ),
        ),
        migrations.AddConstraint(
            model_name="service",
            constraint=models.CheckConstraint(
                condition=models.Q(("notice_minutes__lte", 129600)), name="service_notice_is_up_to_90_days"
            ),
        ),
        migrations.AddConstraint(
            model_name="service",
            constraint=models.CheckConstraint(
                condition=models.Q(("horizon_days__range", (1, 366))), name="service_horizon_is_up_to_a_year"
            ),
        ),
        migrations.AddConstraint(
            model_name="service",
            constraint=models.CheckConstraint(
                condition=models.Q(("step_minutes__range", (5, 1440))), name="service_step_is_sensible"
            ),
        ),
        migrations.AddConstraint(
            model_name="service",
            constraint=models.CheckConstraint(
                condition=models.Q(("deposit", None), ("deposit__gt", 0), _connector="OR"),
                name="service_deposit_is_positive",
            ),
        ),
        migrations.AddConstraint(
            model_name="servicestaff",
            constraint=models.UniqueConstraint(fields=("service", "staff"), name="service_staff_once"),
        ),
    ]
