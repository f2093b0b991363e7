"""Two-factor with its recovery codes, the roles that must use it, and sessions that say whose they are."""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

import config.encryption


def of_user(related_name, kind=models.ForeignKey, **options):
    return kind(
        on_delete=django.db.models.deletion.CASCADE,
        related_name=related_name,
        to=settings.AUTH_USER_MODEL,
        **options,
    )


class Migration(migrations.Migration):
    dependencies = [("agency", "0012_look")]

    operations = [
        migrations.CreateModel(
            name="TwoFactor",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("secret", config.encryption.EncryptedTextField(bound_to="user")),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("confirmed_at", models.DateTimeField(null=True)),
                ("last_used_step", models.BigIntegerField(default=0)),
                ("attempts", models.PositiveIntegerField(default=0)),
                ("attempts_since", models.DateTimeField(default=django.utils.timezone.now)),
                ("user", of_user("two_factor", models.OneToOneField)),
            ],
        ),
        migrations.CreateModel(
            name="RecoveryCode",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("digest", models.BinaryField(max_length=32)),
                ("used_at", models.DateTimeField(null=True)),
                ("user", of_user("recovery_codes", db_index=False)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("user", "digest"), name="recovery_code_once_per_user"),
                ],
            },
        ),
        migrations.CreateModel(
            name="UserSession",
            fields=[
                (
                    "session_key",
                    models.CharField(max_length=40, primary_key=True, serialize=False, verbose_name="session key"),
                ),
                ("session_data", models.TextField(verbose_name="session data")),
                ("expire_date", models.DateTimeField(db_index=True, verbose_name="expire date")),
                ("signed_in_at", models.DateTimeField(null=True)),
                ("last_seen_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("address", models.CharField(blank=True, max_length=45)),
                ("browser", models.CharField(blank=True, max_length=60)),
                (
                    "agency",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="agency.agency",
                    ),
                ),
                ("user", of_user("sessions", db_index=False, null=True)),
            ],
            options={
                "verbose_name": "session",
                "verbose_name_plural": "sessions",
                "abstract": False,
                "indexes": [
                    models.Index(condition=models.Q(("user__isnull", False)), fields=["user"], name="session_of_user"),
                ],
            },
        ),
        migrations.AddField(
            "agency",
            "two_factor_roles",
            django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(max_length=10),
                blank=True,
                db_default=[],
                default=list,
                editable=False,
                size=None,
            ),
        ),
        migrations.AddConstraint(
            "agency",
            models.CheckConstraint(
                condition=models.Q(("two_factor_roles__contained_by", ["owner", "admin", "viewer"])),
                name="agency_two_factor_roles_are_known",
            ),
        ),
        migrations.AlterField(
            "mail",
            "kind",
            models.CharField(
                choices=[
                    ("owner_invitation", "Owner Invitation"),
                    ("ownership_invitation", "Ownership Invitation"),
                    ("member_invitation", "Member Invitation"),
                    ("password_reset", "Password Reset"),
                    ("two_factor_changed", "Two Factor Changed"),
                    ("recovery_code_used", "Recovery Code Used"),
                    ("new_sign_in", "New Sign In"),
                ],
                max_length=30,
            ),
        ),
    ]
