"""Agencies' own hosts; every process hears of a change as it is committed."""

import uuid

import django.contrib.postgres.fields
import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models

HOST_PATTERN = "^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$"
NOTIFY = """
CREATE FUNCTION agency_notify_of_domains() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('agency_domains', '');
    RETURN NULL;
END $$;
CREATE TRIGGER new_domains_are_heard_of AFTER INSERT OR DELETE OR TRUNCATE
    ON agency_domain FOR EACH STATEMENT EXECUTE FUNCTION agency_notify_of_domains();
CREATE TRIGGER changed_domains_are_heard_of AFTER UPDATE ON agency_domain FOR EACH ROW
    WHEN ((OLD.agency_id, OLD.host, OLD.state, OLD.is_primary)
        IS DISTINCT FROM (NEW.agency_id, NEW.host, NEW.state, NEW.is_primary))
    EXECUTE FUNCTION agency_notify_of_domains();
"""


class Migration(migrations.Migration):
    dependencies = [("agency", "0010_new_rows_alone")]

    operations = [
        migrations.CreateModel(
            name="Domain",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("uuid", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("host", models.CharField(editable=False, max_length=253)),
                ("token", models.CharField(editable=False, max_length=64)),
                (
                    "state",
                    models.CharField(
                        choices=[("pending", "Not verified yet"), ("verified", "Verified")],
                        default="pending",
                        editable=False,
                        max_length=10,
                    ),
                ),
                ("verified_at", models.DateTimeField(blank=True, editable=False, null=True)),
                ("is_primary", models.BooleanField(default=False, editable=False)),
                (
                    "finding",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("", "Not checked yet"),
                            ("found", "The record is there"),
                            ("no_record", "There is no record"),
                            ("other_value", "The record has another value"),
                            ("no_answer", "The name servers did not answer"),
                            ("taken", "Another agency has this domain"),
                        ],
                        editable=False,
                        max_length=12,
                    ),
                ),
                (
                    "found_texts",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=255),
                        blank=True,
                        default=list,
                        editable=False,
                        size=None,
                    ),
                ),
                (
                    "found_addresses",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=45), blank=True, default=list, editable=False, size=None
                    ),
                ),
                ("points_here", models.BooleanField(editable=False, null=True)),
                ("checked_at", models.DateTimeField(blank=True, editable=False, null=True)),
                (
                    "next_check_at",
                    models.DateTimeField(blank=True, default=django.utils.timezone.now, editable=False, null=True),
                ),
                ("failing_since", models.DateTimeField(blank=True, editable=False, null=True)),
                (
                    "pending_since",
                    models.DateTimeField(blank=True, default=django.utils.timezone.now, editable=False, null=True),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                (
                    "agency",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="domains",
                        to="agency.agency",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("next_check_at__isnull", False)),
                        fields=["next_check_at"],
                        name="domain_to_check",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("agency", "host"), name="domain_once_per_agency"),
                    models.UniqueConstraint(
                        condition=models.Q(("state", "verified")), fields=("host",), name="domain_is_of_one_agency"
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("is_primary", True)), fields=("agency",), name="domain_one_is_primary"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("host__regex", HOST_PATTERN)), name="domain_host_is_a_name"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("failing_since", None),
                                ("is_primary", False),
                                ("pending_since__isnull", False),
                                ("state", "pending"),
                                ("verified_at", None),
                            ),
                            models.Q(("pending_since", None), ("state", "verified"), ("verified_at__isnull", False)),
                            _connector="OR",
                        ),
                        name="domain_state_has_its_times",
                    ),
                ],
            },
        ),
        migrations.RunSQL(
            NOTIFY,
            "DROP TRIGGER new_domains_are_heard_of ON agency_domain; "
            "DROP TRIGGER changed_domains_are_heard_of ON agency_domain; "
            "DROP FUNCTION agency_notify_of_domains();",
        ),
    ]
