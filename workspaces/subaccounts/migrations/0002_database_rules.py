"""Checks, search indexes, triggers that count an agency's sub-accounts, and one that guards moves between agencies."""

from django.contrib.postgres.operations import BtreeGinExtension, TrigramExtension
from django.db import migrations

CHECKS = """
ALTER TABLE subaccounts_workspacekey ADD CONSTRAINT workspace_key_hash_is_sha256 CHECK (octet_length(key_hash) = 32);
ALTER TABLE subaccounts_workspace
    ADD CONSTRAINT workspace_metadata_is_an_object CHECK (jsonb_typeof(metadata) = 'object');
"""
NO_CHECKS = """
ALTER TABLE subaccounts_workspacekey DROP CONSTRAINT workspace_key_hash_is_sha256;
ALTER TABLE subaccounts_workspace DROP CONSTRAINT workspace_metadata_is_an_object;
"""
NETWORKS = """
ALTER TABLE subaccounts_workspacekey ADD CONSTRAINT workspace_key_networks_are_networks
    CHECK (cardinality(allowed_networks) <= 20 AND allowed_networks::cidr[] IS NOT NULL);
"""
NO_NETWORKS = "ALTER TABLE subaccounts_workspacekey DROP CONSTRAINT workspace_key_networks_are_networks;"
INDEXES = """
CREATE INDEX workspace_search ON subaccounts_workspace
USING gin (agency_id, name_key gin_trgm_ops, owner_key gin_trgm_ops);
CREATE INDEX workspace_find ON subaccounts_workspace
USING gin (agency_id, lower(external_id) gin_trgm_ops, regexp_replace(phone, '\\D', '', 'g') gin_trgm_ops);
CREATE INDEX channel_find ON subaccounts_channel
USING gin (regexp_replace(handle, '\\D', '', 'g') gin_trgm_ops) WHERE status <> 'disconnected';
"""
NO_INDEXES = "DROP INDEX workspace_search; DROP INDEX workspace_find; DROP INDEX channel_find;"
COUNTING = """
CREATE FUNCTION subaccounts_count_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE agency_agency SET sub_account_count = sub_account_count + added.number
    FROM (SELECT agency_id, count(*) AS number FROM new_rows GROUP BY agency_id) added
    WHERE agency_agency.id = added.agency_id;
    RETURN NULL;
END $$;
CREATE FUNCTION subaccounts_count_removed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE agency_agency SET sub_account_count = sub_account_count - removed.number
    FROM (SELECT agency_id, count(*) AS number FROM old_rows GROUP BY agency_id) removed
    WHERE agency_agency.id = removed.agency_id;
    RETURN NULL;
END $$;
CREATE FUNCTION subaccounts_count_moved() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE agency_agency SET sub_account_count = sub_account_count + CASE WHEN id = NEW.agency_id THEN 1 ELSE -1 END
    WHERE id IN (OLD.agency_id, NEW.agency_id);
    RETURN NULL;
END $$;
CREATE TRIGGER workspace_is_counted AFTER INSERT ON subaccounts_workspace
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION subaccounts_count_added();
CREATE TRIGGER workspace_is_no_longer_counted AFTER DELETE ON subaccounts_workspace
    REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION subaccounts_count_removed();
CREATE TRIGGER workspace_is_counted_elsewhere AFTER UPDATE OF agency_id ON subaccounts_workspace
    FOR EACH ROW WHEN (OLD.agency_id IS DISTINCT FROM NEW.agency_id) EXECUTE FUNCTION subaccounts_count_moved();
"""
NO_COUNTING = """
DROP TRIGGER workspace_is_counted ON subaccounts_workspace;
DROP TRIGGER workspace_is_no_longer_counted ON subaccounts_workspace;
DROP TRIGGER workspace_is_counted_elsewhere ON subaccounts_workspace;
DROP FUNCTION subaccounts_count_added();
DROP FUNCTION subaccounts_count_removed();
DROP FUNCTION subaccounts_count_moved();
"""
# A sub-account changes its agency only in a transaction that declares the move.
MOVING = """
CREATE FUNCTION subaccounts_refuse_moving() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('agency.workspace', true) = 'move' THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'a sub-account stays with its agency' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER workspace_stays_with_its_agency BEFORE UPDATE OF agency_id ON subaccounts_workspace
    FOR EACH ROW WHEN (OLD.agency_id IS DISTINCT FROM NEW.agency_id) EXECUTE FUNCTION subaccounts_refuse_moving();
"""
NO_MOVING = """
DROP TRIGGER workspace_stays_with_its_agency ON subaccounts_workspace;
DROP FUNCTION subaccounts_refuse_moving();
"""


class Migration(migrations.Migration):
    dependencies = [("subaccounts", "0001_initial")]

    operations = [
        TrigramExtension(),
        BtreeGinExtension(),
        migrations.RunSQL(CHECKS, NO_CHECKS),
        migrations.RunSQL(NETWORKS, NO_NETWORKS),
        migrations.RunSQL(INDEXES, NO_INDEXES),
        migrations.RunSQL(COUNTING, NO_COUNTING),
        migrations.RunSQL(MOVING, NO_MOVING),
    ]
