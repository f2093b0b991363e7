"""A session is begun before its workspace moves to another agency, or after: never while it does."""

from django.db import migrations

FUNCTION = """
CREATE OR REPLACE FUNCTION channelconnect_refuse_foreign() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM subaccounts_workspace WHERE id = NEW.workspace_id AND agency_id = NEW.agency_id {lock};
    IF NOT FOUND THEN
        RAISE EXCEPTION 'a session is about a sub-account of its agency' USING ERRCODE = 'restrict_violation';
    END IF;
    IF EXISTS (SELECT FROM subaccounts_channel WHERE id IN (NEW.target_id, NEW.channel_id)
            AND workspace_id <> NEW.workspace_id) THEN
        RAISE EXCEPTION 'a session connects channels of its sub-account' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("channelconnect", "0011_host")]

    operations = [migrations.RunSQL(FUNCTION.format(lock="FOR KEY SHARE"), FUNCTION.format(lock=""))]
