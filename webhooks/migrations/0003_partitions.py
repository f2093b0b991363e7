"""Deliveries and attempts in a partition for each day; what is there already moves along."""

import uuid

from django.db import migrations, models

from webhooks.models import partitions

NUMBERS = "CREATE SEQUENCE webhooks_delivery_number"
# The days of the numbers that the rows of before get, by the day on which each was made.
MAPPED = """
CREATE TEMPORARY TABLE renumbered ON COMMIT DROP AS
SELECT id AS old_id, ((created_at AT TIME ZONE 'UTC')::date - DATE '1970-01-01')::bigint * 68719476736
    + nextval('webhooks_delivery_number') AS new_id, (created_at AT TIME ZONE 'UTC')::date AS day
FROM (SELECT id, created_at FROM webhooks_delivery ORDER BY id) AS delivery
"""
DAYS = "SELECT DISTINCT day FROM renumbered"
PARTED = (
    "CREATE TABLE {table}_parted (LIKE {table} INCLUDING DEFAULTS INCLUDING CONSTRAINTS) PARTITION BY RANGE ({key})"
)
OLD_COLUMNS = """
SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute
WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped AND attname <> %s
"""
MOVE = """
INSERT INTO {table} ({key}, {columns})
SELECT renumbered.new_id, {columns} FROM {table}_before JOIN renumbered ON renumbered.old_id = {table}_before.{key}
"""
QUEUE = "UPDATE webhooks_queueddelivery SET delivery_id = new_id FROM renumbered WHERE old_id = delivery_id"


def part(apps, schema_editor):
    """Put partitioned tables in the places of the plain ones, with the same columns and rules."""
    delivery = apps.get_model("webhooks", "Delivery")
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(NUMBERS)
        cursor.execute(MAPPED)
        cursor.execute(DAYS)
        days = [row[0] for row in cursor.fetchall()]
        for table, key in (("webhooks_delivery", "id"), ("webhooks_attempt", "delivery_id")):
            cursor.execute(PARTED.format(table=table, key=key))
            cursor.execute(f"CREATE TEMPORARY TABLE {table}_before ON COMMIT DROP AS TABLE {table}")
            cursor.execute(f"DROP TABLE {table}")
            cursor.execute(f"ALTER TABLE {table}_parted RENAME TO {table}")
        cursor.execute(f"ALTER TABLE webhooks_delivery ADD PRIMARY KEY (id), ALTER id SET DEFAULT {partitions.NEW_ID}")
        cursor.execute("ALTER TABLE webhooks_attempt ADD PRIMARY KEY (delivery_id, number)")
        cursor.execute("ALTER SEQUENCE webhooks_delivery_number OWNED BY webhooks_delivery.id")
        for index in delivery._meta.indexes:
            schema_editor.execute(index.create_sql(delivery, schema_editor))
        for day in days:
            partitions.make_partitions(day, day)
        for table, key in (("webhooks_delivery", "id"), ("webhooks_attempt", "delivery_id")):
            cursor.execute(OLD_COLUMNS, [table, key])
            cursor.execute(MOVE.format(table=table, key=key, columns=cursor.fetchone()[0]))
        cursor.execute(QUEUE)


class Migration(migrations.Migration):
    dependencies = [("webhooks", "0002_storage")]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RemoveConstraint("delivery", "delivery_once_per_event"),
                migrations.AlterField("delivery", "uuid", models.UUIDField(default=uuid.uuid4, editable=False)),
            ]
        ),
        migrations.RunPython(part),
        migrations.AddIndex("hourlystats", models.Index(fields=["hour"], name="hourly_stats_by_age")),
    ]
