"""E-mails with a link to set a new password; an activity log that can be read by action."""

from django.db import migrations, models

KINDS = [
    ("owner_invitation", "Owner Invitation"),
    ("member_invitation", "Member Invitation"),
    ("password_reset", "Password Reset"),
]


class Migration(migrations.Migration):
    dependencies = [("agency", "0002_database_rules")]

    operations = [
        migrations.AlterField("mail", "kind", models.CharField(choices=KINDS, max_length=30)),
        migrations.AddIndex(
            "activityentry", models.Index(fields=["agency", "action", "-id"], name="activity_by_action")
        ),
    ]
