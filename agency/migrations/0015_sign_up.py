"""Sign-up: an agency's settings, and who has yet to show that an address is theirs."""

import uuid

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models

# New workspaces take the agency's default plan. Looked at when a transaction ends: one may change both.
NEEDS_PLAN = """
CREATE FUNCTION agency_sign_up_needs_plan() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM agency_signupsettings WHERE agency_id = coalesce(NEW.agency_id, OLD.agency_id)
            AND (is_on OR allows_further_workspaces))
        AND NOT EXISTS (SELECT FROM agency_plan WHERE agency_id = coalesce(NEW.agency_id, OLD.agency_id) AND is_default)
    THEN
        RAISE EXCEPTION 'sign-up needs a default plan'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'sign_up_needs_a_default_plan';
    END IF;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER sign_up_needs_a_default_plan AFTER INSERT OR UPDATE ON agency_signupsettings
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.is_on OR NEW.allows_further_workspaces)
    EXECUTE FUNCTION agency_sign_up_needs_plan();
CREATE CONSTRAINT TRIGGER sign_up_keeps_its_default_plan AFTER UPDATE OF is_default OR DELETE ON agency_plan
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (OLD.is_default)
    EXECUTE FUNCTION agency_sign_up_needs_plan();
"""
NEEDS_NONE = """
DROP TRIGGER sign_up_needs_a_default_plan ON agency_signupsettings;
DROP TRIGGER sign_up_keeps_its_default_plan ON agency_plan;
DROP FUNCTION agency_sign_up_needs_plan();
"""


class Migration(migrations.Migration):
    dependencies = [
        ("agency", "0014_people"),
    ]

    operations = [
        migrations.AlterField(
            model_name="mail",
            name="kind",
            field=models.CharField(
                choices=[
                    ("owner_invitation", "Owner Invitation"),
                    ("ownership_invitation", "Ownership Invitation"),
                    ("member_invitation", "Member Invitation"),
                    ("sign_up_confirmation", "Sign Up Confirmation"),
                    ("sign_up_known_address", "Sign Up Known Address"),
                    ("workspace_invitation", "Workspace Invitation"),
                    ("password_reset", "Password Reset"),
                    ("two_factor_changed", "Two Factor Changed"),
                    ("recovery_code_used", "Recovery Code Used"),
                    ("new_sign_in", "New Sign In"),
                ],
                max_length=30,
            ),
        ),
        migrations.CreateModel(
            name="SignUpSettings",
            fields=[
                (
                    "agency",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="sign_up",
                        serialize=False,
                        to="agency.agency",
                    ),
                ),
                ("is_on", models.BooleanField(db_default=False, default=False)),
                ("allows_further_workspaces", models.BooleanField(db_default=False, default=False)),
                ("terms_url", models.CharField(blank=True, max_length=500)),
                ("privacy_url", models.CharField(blank=True, max_length=500)),
            ],
            options={
                "verbose_name_plural": "sign-up settings",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("terms_url", ""), ("terms_url__startswith", "https://"), _connector="OR"),
                            models.Q(("privacy_url", ""), ("privacy_url__startswith", "https://"), _connector="OR"),
                        ),
                        name="sign_up_links_are_https",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="PendingSignUp",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("uuid", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("email", models.EmailField(max_length=254)),
                ("name", models.CharField(max_length=120)),
                ("password", models.CharField(blank=True, max_length=128)),
                ("business", models.CharField(max_length=120)),
                ("business_type", models.CharField(blank=True, max_length=30)),
                ("timezone", models.CharField(max_length=64)),
                ("terms_url", models.CharField(blank=True, max_length=500)),
                ("privacy_url", models.CharField(blank=True, max_length=500)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ("expires_at", models.DateTimeField()),
                ("confirmed_at", models.DateTimeField(null=True)),
                (
                    "agency",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="pending_sign_ups",
                        to="agency.agency",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["expires_at"], name="sign_up_by_end"),
                    models.Index(fields=["email"], name="sign_up_of_address"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("confirmed_at", None), models.Q(("password", ""), _negated=True)),
                            models.Q(("confirmed_at__isnull", False), ("password", "")),
                            _connector="OR",
                        ),
                        name="sign_up_keeps_no_password",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("expires_at__gt", models.F("created_at"))), name="sign_up_ends_later"
                    ),
                ],
            },
        ),
        migrations.RunSQL(NEEDS_PLAN, NEEDS_NONE),
    ]
