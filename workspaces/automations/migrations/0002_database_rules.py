"""Database rules: a published version cannot change, and an automation runs one of its versions."""

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


class Migration(migrations.Migration):
    dependencies = [("automations", "0001_initial")]

    operations = [migrations.RunSQL(FROZEN, NOT_FROZEN), migrations.RunSQL(OWN_VERSION, ANY_VERSION)]
