"""How recipients and counts are stored."""

from django.db import migrations

# Room on each page for the versions that sending and statuses make of a row, so that no index has to be written.
# Neighbours are sent to, and heard of, together: all rows of a page get a new version in one transaction, half as long
# again as they were prepared, which has to fit beside the old ones. Counts live on few pages that change with each batch.
# Vacuum comes by the number of dead rows, not by a share of millions.
STORAGE = """
ALTER TABLE broadcasts_recipient SET (fillfactor = 30, autovacuum_vacuum_scale_factor = 0.01,
    autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);
ALTER TABLE broadcasts_broadcast SET (fillfactor = 50);
ALTER TABLE broadcasts_broadcastcount SET (fillfactor = 20, autovacuum_vacuum_threshold = 500);
"""
NO_STORAGE = """
ALTER TABLE broadcasts_recipient RESET (fillfactor, autovacuum_vacuum_scale_factor, autovacuum_analyze_scale_factor,
    autovacuum_vacuum_insert_scale_factor);
ALTER TABLE broadcasts_broadcast RESET (fillfactor);
ALTER TABLE broadcasts_broadcastcount RESET (fillfactor, autovacuum_vacuum_threshold);
"""


class Migration(migrations.Migration):
    dependencies = [("broadcasts", "0001_initial")]

    operations = [migrations.RunSQL(STORAGE, NO_STORAGE)]
