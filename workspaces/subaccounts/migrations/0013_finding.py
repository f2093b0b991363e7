"""The console's search finds sub-accounts by their own id at the agency and by phone, and channels by phone."""

from django.db import migrations

INDEXES = """
CREATE INDEX workspace_find ON subaccounts_workspace
USING gin (agency_id, lower(external_id) gin_trgm_ops, regexp_replace(phone, '\\D', '', 'g') gin_trgm_ops);
CREATE INDEX channel_find ON subaccounts_channel
USING gin (regexp_replace(handle, '\\D', '', 'g') gin_trgm_ops) WHERE status <> 'disconnected';
"""
NO_INDEXES = "DROP INDEX workspace_find; DROP INDEX channel_find;"


class Migration(migrations.Migration):
    dependencies = [("subaccounts", "0012_workspace_by_name")]

    operations = [migrations.RunSQL(INDEXES, NO_INDEXES)]
