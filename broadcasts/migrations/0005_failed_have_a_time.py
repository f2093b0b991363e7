from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models

# Nobody knows any more when those failed; it was after this. The next migration looks through the table, without a lock
# that senders would wait for.
GIVE_A_TIME = """
UPDATE broadcasts_recipient SET failed_at = coalesce(sent_at, claimed_at, created_at)
WHERE status = 'failed' AND failed_at IS NULL
"""


class Migration(migrations.Migration):
    dependencies = [
        ("broadcasts", "0004_shown_recipients"),
    ]

    operations = [
        migrations.RunSQL(GIVE_A_TIME, migrations.RunSQL.noop),
        AddConstraintNotValid(
            model_name="recipient",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("status", "failed"), _negated=True), ("failed_at__isnull", False), _connector="OR"
                ),
                name="recipient_that_failed_has_a_time",
            ),
        ),
    ]
