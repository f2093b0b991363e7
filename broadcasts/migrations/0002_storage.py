"""Storage settings of recipients and counts."""

from django.db import migrations

# Free room on each page for the new row versions that sending and statuses write, so that an update writes no index.
# Neighbouring rows are sent to and get their statuses together: one transaction writes a new version of every row of a
# page. It is half as long again as at preparation, and must fit beside the old one. Counts live on a few pages that
# change with each batch; so does the row of a failing broadcast. Vacuum starts at a number of dead rows, not at a share of millions.
STORAGE = """
ALTER TABLE broadcasts_recipient SET (fillfactor = 30, autovacuum_vacuum_scale_factor = 0.01,
    autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);
ALTER TABLE broadcasts_broadcast SET (fillfactor = 50);
ALTER TABLE broadcasts_broadcastcount SET (fillfactor = 20, autovacuum_vacuum_threshold = 500);
ALTER TABLE broadcasts_failurestreak SET (fillfactor = 50);
"""
NO_STORAGE = """
ALTER TABLE broadcasts_recipient RESET (fillfactor, autovacuum_vacuum_scale_factor, autovacuum_analyze_scale_factor,
    autovacuum_vacuum_insert_scale_factor);
ALTER TABLE broadcasts_broadcast RESET (fillfactor);
ALTER TABLE broadcasts_broadcastcount RESET (fillfactor, autovacuum_vacuum_threshold);
ALTER TABLE broadcasts_failurestreak RESET (fillfactor);
"""


class Migration(migrations.Migration):
    dependencies = [("broadcasts", "0001_initial")]

    operations = [migrations.RunSQL(STORAGE, NO_STORAGE)]
