"""Invitations to the people of a workspace, their e-mail, and for whom somebody of an agency acts."""

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("agency", "0013_two_factor")]

    operations = [
        migrations.AddField(
            model_name="activityentry",
            name="acting_for",
            field=models.CharField(blank=True, db_default="", max_length=120),
        ),
        migrations.AlterField(
            model_name="mail",
            name="kind",
            field=models.CharField(
                choices=[
                    ("owner_invitation", "Owner Invitation"),
                    ("ownership_invitation", "Ownership Invitation"),
                    ("member_invitation", "Member Invitation"),
                    ("workspace_invitation", "Workspace Invitation"),
                    ("password_reset", "Password Reset"),
                    ("two_factor_changed", "Two Factor Changed"),
                    ("recovery_code_used", "Recovery Code Used"),
                    ("new_sign_in", "New Sign In"),
                ],
                max_length=30,
            ),
        ),
        migrations.RemoveConstraint("invitation", "invitation_open_once_per_workspace"),
        migrations.RemoveConstraint("invitation", "invitation_is_to_a_team_or_a_workspace"),
        migrations.AddConstraint(
            model_name="invitation",
            constraint=models.UniqueConstraint(
                condition=Q(("role", ""), ("status", "open")),
                fields=["workspace_uuid"],
                name="invitation_open_once_per_workspace",
            ),
        ),
        migrations.AddConstraint(
            model_name="invitation",
            constraint=models.UniqueConstraint(
                condition=Q(("role", "member"), ("status", "open")),
                fields=["workspace_uuid", "email"],
                name="invitation_open_once_per_person",
            ),
        ),
        migrations.AddConstraint(
            model_name="invitation",
            constraint=models.CheckConstraint(
                condition=Q(
                    Q(("role__in", ["owner", "admin", "viewer"]), ("workspace_uuid", None)),
                    Q(("role__in", ["", "member"]), ("workspace_uuid__isnull", False)),
                    _connector="OR",
                ),
                name="invitation_is_to_a_team_or_a_workspace",
            ),
        ),
    ]
