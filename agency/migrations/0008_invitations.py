"""Invitations that wait for an answer; e-mails to addresses that may be nobody's yet; what people chose last."""

import uuid

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("agency", "0007_default_plan"),
    ]

    operations = [
        migrations.AddField(
            model_name="mail",
            name="agency",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="mails",
                to="agency.agency",
            ),
        ),
        migrations.AddField(
            model_name="mail",
            name="recipient",
            field=models.EmailField(default="", max_length=254),
            preserve_default=False,
        ),
        migrations.RunSQL(
            "UPDATE agency_mail SET recipient = agency_user.email FROM agency_user WHERE agency_user.id = user_id",
            migrations.RunSQL.noop,
        ),
        migrations.AddField(
            model_name="user",
            name="chosen_agency",
            field=models.UUIDField(editable=False, null=True),
        ),
        migrations.AddField(
            model_name="user",
            name="chosen_workspace",
            field=models.UUIDField(editable=False, null=True),
        ),
        migrations.AddField(
            model_name="user",
            name="landing",
            field=models.CharField(blank=True, editable=False, max_length=20),
        ),
        migrations.AlterField(
            model_name="mail",
            name="kind",
            field=models.CharField(
                choices=[
                    ("owner_invitation", "Owner Invitation"),
                    ("ownership_invitation", "Ownership Invitation"),
                    ("member_invitation", "Member Invitation"),
                    ("password_reset", "Password Reset"),
                ],
                max_length=30,
            ),
        ),
        migrations.AlterField(
            model_name="mail",
            name="user",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="mails",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.CreateModel(
            name="Invitation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("uuid", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("workspace_uuid", models.UUIDField(blank=True, editable=False, null=True)),
                ("email", models.EmailField(max_length=254)),
                ("name", models.CharField(blank=True, max_length=120)),
                (
                    "role",
                    models.CharField(
                        blank=True,
                        choices=[("owner", "Owner"), ("admin", "Admin"), ("viewer", "Viewer")],
                        max_length=10,
                    ),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("open", "Waiting for an answer"),
                            ("accepted", "Accepted"),
                            ("declined", "Declined"),
                            ("withdrawn", "Withdrawn"),
                        ],
                        default="open",
                        editable=False,
                        max_length=10,
                    ),
                ),
                ("invited_by", models.CharField(editable=False, max_length=254)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ("expires_at", models.DateTimeField(editable=False)),
                ("ended_at", models.DateTimeField(blank=True, editable=False, null=True)),
                (
                    "agency",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="invitations",
                        to="agency.agency",
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="mail",
            name="invitation",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.CASCADE, related_name="mails", to="agency.invitation"
            ),
        ),
        migrations.AddIndex(
            model_name="mail",
            index=models.Index(fields=["recipient", "-sent_at"], name="mail_sent_to"),
        ),
        migrations.AddIndex(
            model_name="mail",
            index=models.Index(fields=["agency", "-sent_at"], name="mail_sent_for"),
        ),
        migrations.AddIndex(
            model_name="invitation",
            index=models.Index(condition=models.Q(("status", "open")), fields=["email"], name="invitation_of_address"),
        ),
        migrations.AddIndex(
            model_name="invitation",
            index=models.Index(fields=["workspace_uuid", "-id"], name="invitation_of_workspace"),
        ),
        migrations.AddIndex(
            model_name="invitation",
            index=models.Index(fields=["agency", "-id"], name="invitation_of_agency"),
        ),
        migrations.AddIndex(
            model_name="invitation",
            index=models.Index(fields=["expires_at"], name="invitation_by_end"),
        ),
        migrations.AddConstraint(
            model_name="invitation",
            constraint=models.UniqueConstraint(
                condition=models.Q(("status", "open"), ("workspace_uuid", None)),
                fields=("agency", "email"),
                name="invitation_open_once_per_address",
            ),
        ),
        migrations.AddConstraint(
            model_name="invitation",
            constraint=models.UniqueConstraint(
                condition=models.Q(("status", "open")),
                fields=("workspace_uuid",),
                name="invitation_open_once_per_workspace",
            ),
        ),
        migrations.AddConstraint(
            model_name="invitation",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("role__in", ["owner", "admin", "viewer"]), ("workspace_uuid", None)),
                    models.Q(("role", ""), ("workspace_uuid__isnull", False)),
                    _connector="OR",
                ),
                name="invitation_is_to_a_team_or_a_workspace",
            ),
        ),
        migrations.AddConstraint(
            model_name="invitation",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("ended_at", None), ("status", "open")),
                    models.Q(("ended_at__isnull", False), ("status__in", ["accepted", "declined", "withdrawn"])),
                    _connector="OR",
                ),
                name="invitation_end_has_a_time",
            ),
        ),
    ]
