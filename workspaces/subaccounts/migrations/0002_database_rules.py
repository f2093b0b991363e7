"""The name search's index, and an agency's number of sub-accounts, counted by the database itself."""

from django.contrib.postgres.operations import BtreeGinExtension, TrigramExtension
from django.db import migrations

HASH_CHECK = "ALTER TABLE subaccounts_workspacekey ADD CONSTRAINT workspace_key_hash_is_sha256 CHECK (octet_length(key_hash) = 32)"
SEARCH_INDEX = (
    "CREATE INDEX workspace_name_search ON subaccounts_workspace USING gin (agency_id, name_key gin_trgm_ops)"
)
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
CREATE FUNCTION subaccounts_refuse_moving() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'a sub-account stays with its agency' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER workspace_is_counted AFTER INSERT ON subaccounts_workspace
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION subaccounts_count_added();
CREATE TRIGGER workspace_is_no_longer_counted AFTER DELETE ON subaccounts_workspace
    REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION subaccounts_count_removed();
CREATE TRIGGER workspace_stays_with_its_agency BEFORE UPDATE OF agency_id ON subaccounts_workspace
    FOR EACH ROW WHEN (OLD.agency_id IS DISTINCT FROM NEW.agency_id) EXECUTE FUNCTION subaccounts_refuse_moving();
"""
NO_COUNTING = """
DROP TRIGGER workspace_is_counted ON subaccounts_workspace;
DROP TRIGGER workspace_is_no_longer_counted ON subaccounts_workspace;
DROP TRIGGER workspace_stays_with_its_agency ON subaccounts_workspace;
DROP FUNCTION subaccounts_count_added();
DROP FUNCTION subaccounts_count_removed();
DROP FUNCTION subaccounts_refuse_moving();
"""


class Migration(migrations.Migration):
    dependencies = [("subaccounts", "0001_initial")]

    operations = [
        TrigramExtension(),
        BtreeGinExtension(),
        migrations.RunSQL(
            HASH_CHECK, "ALTER TABLE subaccounts_workspacekey DROP CONSTRAINT workspace_key_hash_is_sha256"
        ),
        migrations.RunSQL(SEARCH_INDEX, "DROP INDEX workspace_name_search"),
        migrations.RunSQL(COUNTING, NO_COUNTING),
    ]
