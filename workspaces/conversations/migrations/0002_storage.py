"""Sets storage options of messages and conversations."""

from django.db import migrations

# Leave room on each page for new row versions, so that status updates and read marks write no index (HOT).
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
