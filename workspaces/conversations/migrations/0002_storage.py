"""How messages and conversations are stored."""

from django.db import migrations

# Room on each page for the versions that statuses and reading make of its rows, so that no index has to be written.
STORAGE = """
ALTER TABLE conversations_message SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE conversations_conversation SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
"""
NO_STORAGE = """
ALTER TABLE conversations_message RESET (fillfactor, autovacuum_vacuum_scale_factor);
ALTER TABLE conversations_conversation RESET (fillfactor, autovacuum_vacuum_scale_factor);
"""


class Migration(migrations.Migration):
    dependencies = [("conversations", "0001_initial")]

    operations = [migrations.RunSQL(STORAGE, NO_STORAGE)]
