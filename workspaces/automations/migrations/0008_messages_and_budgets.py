import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("automations", "0007_removed_automations")]

    operations = [
        migrations.AddField(
            model_name="automationrunstep",
            name="other_messages",
            field=django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), null=True, size=None),
        ),
        migrations.CreateModel(
            name="AgencyAiBudget",
            fields=[
                (
                    "agency",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to="agency.agency",
                    ),
                ),
                ("monthly_budget", models.DecimalField(decimal_places=2, max_digits=12)),
            ],
            options={
                "verbose_name": "A.I. budget of an agency",
                "verbose_name_plural": "A.I. budgets of agencies",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("monthly_budget__gte", 0)), name="agency_ai_budget_is_not_negative"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="AgencyAiUsage",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("month", models.DateField()),
                ("cost", models.BigIntegerField(db_default=0, default=0)),
                ("reserved", models.BigIntegerField(db_default=0, default=0)),
                ("notified", models.SmallIntegerField(db_default=0, default=0)),
                (
                    "agency",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="agency.agency",
                    ),
                ),
            ],
            options={
                "verbose_name": "A.I. usage of an agency",
                "verbose_name_plural": "A.I. usage of agencies",
                "indexes": [models.Index(fields=["month"], name="agency_ai_usage_old")],
                "constraints": [
                    models.UniqueConstraint(fields=("agency", "month"), name="agency_ai_usage_once"),
                    models.CheckConstraint(
                        condition=models.Q(("cost__gte", 0), ("reserved__gte", 0)),
                        name="agency_ai_usage_is_not_negative",
                    ),
                ],
            },
        ),
    ]
