"""A database rule: a change of a workspace's automations makes the engine read their triggers anew."""

from django.db import migrations

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
        OR OLD.stops_on_reply IS DISTINCT FROM NEW.stops_on_reply OR OLD.name IS DISTINCT FROM NEW.name)
    EXECUTE FUNCTION automations_new_generation();
INSERT INTO automations_triggergeneration (workspace_id, number)
SELECT DISTINCT workspace_id, 1 FROM automations_automation;
"""
STAYS = """
DROP TRIGGER automation_is_new ON automations_automation;
DROP TRIGGER automation_is_another ON automations_automation;
DROP FUNCTION automations_new_generation();
"""


class Migration(migrations.Migration):
    dependencies = [("automations", "0003_runs")]

    operations = [migrations.RunSQL(GROWS, STAYS)]
