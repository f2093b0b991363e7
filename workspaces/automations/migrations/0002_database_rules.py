"""Database rules: a published version cannot change, an automation runs one of its versions, and triggers are read anew."""

from django.db import migrations

FROZEN = """
CREATE FUNCTION automations_refuse_rewriting() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'a published version stays as it is' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER automation_version_is_frozen BEFORE UPDATE ON automations_automationversion
    FOR EACH ROW EXECUTE FUNCTION automations_refuse_rewriting();
"""
NOT_FROZEN = """
DROP TRIGGER automation_version_is_frozen ON automations_automationversion;
DROP FUNCTION automations_refuse_rewriting();
"""
# An automation can only run one of its versions.
OWN_VERSION = """
ALTER TABLE automations_automationversion
    ADD CONSTRAINT automation_version_of_automation UNIQUE (automation_id, id);
ALTER TABLE automations_automation ADD CONSTRAINT automation_runs_its_own_version
    FOREIGN KEY (id, published_id) REFERENCES automations_automationversion (automation_id, id)
    DEFERRABLE INITIALLY DEFERRED;
"""
ANY_VERSION = """
ALTER TABLE automations_automation DROP CONSTRAINT automation_runs_its_own_version;
ALTER TABLE automations_automationversion DROP CONSTRAINT automation_version_of_automation;
"""
# A change of a workspace's automations makes the engine read their triggers anew.
GROWS = """
CREATE FUNCTION automations_new_generation() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO automations_triggergeneration AS known (workspace_id, number)
    VALUES (coalesce(NEW.workspace_id, OLD.workspace_id), 1)
    ON CONFLICT (workspace_id) DO UPDATE SET number = known.number + 1;
    RETURN NULL;
END $$;
CREATE TRIGGER automation_is_new AFTER INSERT OR DELETE ON automations_automation
    FOR EACH ROW EXECUTE FUNCTION automations_new_generation();
CREATE TRIGGER automation_is_another AFTER UPDATE ON automations_automation FOR EACH ROW
    WHEN (OLD.enabled IS DISTINCT FROM NEW.enabled OR OLD.published_id IS DISTINCT FROM NEW.published_id
        OR OLD.reentry IS DISTINCT FROM NEW.reentry OR OLD.reentry_days IS DISTINCT FROM NEW.reentry_days
        OR OLD.stops_on_reply IS DISTINCT FROM NEW.stops_on_reply OR OLD.name IS DISTINCT FROM NEW.name
        OR OLD.stops_on_booking IS DISTINCT FROM NEW.stops_on_booking)
    EXECUTE FUNCTION automations_new_generation();
"""
STAYS = """
DROP TRIGGER automation_is_new ON automations_automation;
DROP TRIGGER automation_is_another ON automations_automation;
DROP FUNCTION automations_new_generation();
"""


class Migration(migrations.Migration):
    dependencies = [("automations", "0001_initial")]

    operations = [
        migrations.RunSQL(FROZEN, NOT_FROZEN),
        migrations.RunSQL(OWN_VERSION, ANY_VERSION),
        migrations.RunSQL(GROWS, STAYS),
    ]
