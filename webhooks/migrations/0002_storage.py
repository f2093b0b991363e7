"""How the tables of deliveries are stored: room on the page for the next version of a row, and prompt cleaning."""

from django.db import migrations

# A delivery's row is updated once an attempt, a queued one once a lease; neither touches an index when the new version
# finds room on the same page.
STORED = """
ALTER TABLE webhooks_delivery SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
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
ALTER TABLE webhooks_delivery RESET (fillfactor, autovacuum_vacuum_scale_factor);
ALTER TABLE webhooks_queueddelivery RESET (
    fillfactor, autovacuum_vacuum_scale_factor, autovacuum_vacuum_threshold, autovacuum_vacuum_cost_delay
);
ALTER TABLE webhooks_dispatcherrun RESET (fillfactor);
ALTER TABLE webhooks_endpointshard RESET (fillfactor);
ALTER TABLE webhooks_hourlystats RESET (fillfactor);
ALTER TABLE webhooks_endpoint RESET (fillfactor);
"""


class Migration(migrations.Migration):
    dependencies = [("webhooks", "0001_initial")]

    operations = [migrations.RunSQL(STORED, AS_USUAL)]
