"""A sub-account may go to another agency, where a transaction says that this is what it does."""

from django.db import migrations

MOVING = """
CREATE OR REPLACE FUNCTION subaccounts_refuse_moving() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('agency.workspace', true) = 'move' THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'a sub-account stays with its agency' USING ERRCODE = 'restrict_violation';
END $$;
CREATE FUNCTION subaccounts_count_moved() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE agency_agency SET sub_account_count = sub_account_count + CASE WHEN id = NEW.agency_id THEN 1 ELSE -1 END
    WHERE id IN (OLD.agency_id, NEW.agency_id);
    RETURN NULL;
END $$;
CREATE TRIGGER workspace_is_counted_elsewhere AFTER UPDATE OF agency_id ON subaccounts_workspace
    FOR EACH ROW WHEN (OLD.agency_id IS DISTINCT FROM NEW.agency_id) EXECUTE FUNCTION subaccounts_count_moved();
"""
NO_MOVING = """
CREATE OR REPLACE FUNCTION subaccounts_refuse_moving() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'a sub-account stays with its agency' USING ERRCODE = 'restrict_violation';
END $$;
DROP TRIGGER workspace_is_counted_elsewhere ON subaccounts_workspace;
DROP FUNCTION subaccounts_count_moved();
"""


class Migration(migrations.Migration):
    dependencies = [("subaccounts", "0009_people"), ("agency", "0015_sign_up")]

    operations = [migrations.RunSQL(MOVING, NO_MOVING)]
