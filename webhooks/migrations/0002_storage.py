"""Partitions the tables of deliveries by day, and leaves room on pages for new row versions."""

from django.db import migrations

from webhooks.models import partitions

# A delivery's row is updated once for each attempt, a queued delivery's once for each lease. Neither update writes an
# index if the new version fits on the same page (HOT).
STORED = """
ALTER TABLE webhooks_queueddelivery SET (
    fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
    autovacuum_vacuum_cost_delay = 0
);
ALTER TABLE webhooks_dispatcherrun SET (fillfactor = 20);
ALTER TABLE webhooks_endpointshard SET (fillfactor = 20);
ALTER TABLE webhooks_hourlystats SET (fillfactor = 50);
ALTER TABLE webhooks_endpoint SET (fillfactor = 70);
"""
AS_USUAL = """
ALTER TABLE webhooks_queueddelivery RESET (
    fillfactor, autovacuum_vacuum_scale_factor, autovacuum_vacuum_threshold, autovacuum_vacuum_cost_delay
);
ALTER TABLE webhooks_dispatcherrun RESET (fillfactor);
ALTER TABLE webhooks_endpointshard RESET (fillfactor);
ALTER TABLE webhooks_hourlystats RESET (fillfactor);
ALTER TABLE webhooks_endpoint RESET (fillfactor);
"""
# Support finds an endpoint by a part of its address. The extension is that of sub-accounts.
FOUND = "CREATE INDEX endpoint_find ON webhooks_endpoint USING gin (url gin_trgm_ops)"
NOT_FOUND = "DROP INDEX endpoint_find"
NUMBERS = "CREATE SEQUENCE webhooks_delivery_number"
PARTITIONED = (
    "CREATE TABLE {table}_parted (LIKE {table} INCLUDING DEFAULTS INCLUDING CONSTRAINTS) PARTITION BY RANGE ({key})"
)
KEYS = f"""
ALTER TABLE webhooks_delivery ADD PRIMARY KEY (id), ALTER id SET DEFAULT {partitions.NEW_ID};
ALTER TABLE webhooks_attempt ADD PRIMARY KEY (delivery_id, number);
ALTER SEQUENCE webhooks_delivery_number OWNED BY webhooks_delivery.id;
"""


def partition(apps, schema_editor):
    """Replace the plain tables by partitioned ones with the same columns and constraints."""
    delivery = apps.get_model("webhooks", "Delivery")
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(NUMBERS)
        for table, key in (("webhooks_delivery", "id"), ("webhooks_attempt", "delivery_id")):
            cursor.execute(PARTITIONED.format(table=table, key=key))
            cursor.execute(f"DROP TABLE {table}")
            cursor.execute(f"ALTER TABLE {table}_parted RENAME TO {table}")
        cursor.execute(KEYS)
        for index in delivery._meta.indexes:
            schema_editor.execute(index.create_sql(delivery, schema_editor))


class Migration(migrations.Migration):
    dependencies = [("webhooks", "0001_initial"), ("subaccounts", "0002_database_rules")]

    operations = [
        migrations.RunSQL(STORED, AS_USUAL),
        migrations.RunPython(partition, migrations.RunPython.noop),
        migrations.RunSQL(FOUND, NOT_FOUND),
    ]
