import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models

# A change of `stops_on_booking` makes the engine read the triggers anew, too.
GROWS = """
DROP TRIGGER automation_is_another ON automations_automation;
CREATE TRIGGER automation_is_another AFTER UPDATE ON automations_automation FOR EACH ROW
    WHEN (OLD.enabled IS DISTINCT FROM NEW.enabled OR OLD.published_id IS DISTINCT FROM NEW.published_id
        OR OLD.reentry IS DISTINCT FROM NEW.reentry OR OLD.reentry_days IS DISTINCT FROM NEW.reentry_days
        OR OLD.stops_on_reply IS DISTINCT FROM NEW.stops_on_reply OR OLD.name IS DISTINCT FROM NEW.name{more})
    EXECUTE FUNCTION automations_new_generation();
"""
MORE = " OR OLD.stops_on_booking IS DISTINCT FROM NEW.stops_on_booking"


class Migration(migrations.Migration):
    dependencies = [("appointments", "0001_initial"), ("automations", "0002_database_rules")]

    operations = [
        migrations.AddField(
            model_name="automation", name="stops_on_booking", field=models.BooleanField(db_default=False, default=False)
        ),
        migrations.CreateModel(
            name="InternalCall",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("run_id", models.BigIntegerField()),
                ("run_uuid", models.UUIDField()),
                ("seq", models.IntegerField()),
                ("workspace_id", models.BigIntegerField()),
                ("contact_id", models.BigIntegerField()),
                ("channel_id", models.BigIntegerField(null=True)),
                ("conversation_id", models.BigIntegerField(null=True)),
                ("depth", models.SmallIntegerField(default=0)),
                ("label", models.CharField(blank=True, max_length=254)),
                ("kind", models.CharField(max_length=30)),
                ("request", models.JSONField()),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["contact_id"], name="internal_call_of_contact")],
                "constraints": [models.UniqueConstraint(fields=("run_id", "seq"), name="internal_call_once")],
            },
        ),
        migrations.CreateModel(
            name="AppointmentReminder",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("hours", models.PositiveSmallIntegerField()),
                ("due_at", models.DateTimeField()),
                (
                    "appointment",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="appointments.appointment",
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["due_at", "id"], name="appointment_reminder_due")],
                "constraints": [
                    models.UniqueConstraint(fields=("appointment", "hours"), name="appointment_reminder_once_per_hours")
                ],
            },
        ),
        migrations.RunSQL(GROWS.format(more=MORE), GROWS.format(more="")),
    ]
