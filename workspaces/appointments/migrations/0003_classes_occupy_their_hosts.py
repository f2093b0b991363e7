"""Classes that are scheduled occupy their hosts. Of two that overlap already, the one that begins first does."""

from django.db import migrations

OCCUPY = """
INSERT INTO appointments_occupancy (staff_id, during, class_session_id)
SELECT staff_id, tstzrange(starts_at, ends_at), id FROM classes_classsession
WHERE status = 'scheduled' AND staff_id IS NOT NULL
ORDER BY starts_at, id
ON CONFLICT DO NOTHING
"""


class Migration(migrations.Migration):
    dependencies = [("appointments", "0002_database_rules"), ("classes", "0003_staff_of_the_catalogue")]

    operations = [migrations.RunSQL(OCCUPY, migrations.RunSQL.noop)]
