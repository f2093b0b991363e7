"""What segments ask about a contact as numbers in an index, so that contacts are counted without being read."""

from django.db import migrations

# Equal texts of one kind have equal numbers of 64 bits; that two others have the same is not to be expected.
# `contacts_facts` names nothing of ours: a dump is restored without a search path.
FUNCTIONS = """
CREATE FUNCTION contacts_fact(kind integer, name text, value text) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN hashtextextended(value, hashtextextended(name, kind));
CREATE FUNCTION contacts_facts(
    country text, timezone text, tag_keys text[], platforms text[], attributes jsonb
) RETURNS bigint[] LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    facts bigint[] := '{}';
    one text;
    pair record;
BEGIN
    IF country IS NOT NULL THEN facts := facts || hashtextextended(country, hashtextextended('', 1)); END IF;
    IF timezone IS NOT NULL THEN facts := facts || hashtextextended(timezone, hashtextextended('', 2)); END IF;
    FOREACH one IN ARRAY tag_keys LOOP facts := facts || hashtextextended(one, hashtextextended('', 3)); END LOOP;
    FOREACH one IN ARRAY platforms LOOP facts := facts || hashtextextended(one, hashtextextended('', 4)); END LOOP;
    FOR pair IN SELECT key, value FROM jsonb_each_text(attributes) WHERE value IS NOT NULL LOOP
        facts := facts || hashtextextended(pair.value, hashtextextended(pair.key, 5));
    END LOOP;
    RETURN facts;
END $$;
"""
NO_FUNCTIONS = """
DROP FUNCTION contacts_facts(text, text, text[], text[], jsonb);
DROP FUNCTION contacts_fact(integer, text, text);
"""
# A trigger before updates would have them worked out with each, whatever it changes.
MOVING = """
DROP TRIGGER contact_stays_with_its_workspace ON contacts_contact;
CREATE TRIGGER contact_stays_with_its_workspace AFTER UPDATE OF workspace_id ON contacts_contact
    FOR EACH ROW WHEN (OLD.workspace_id IS DISTINCT FROM NEW.workspace_id) EXECUTE FUNCTION contacts_refuse_moving();
"""
BEFORE = MOVING.replace("AFTER UPDATE", "BEFORE UPDATE")
COLUMN = """
ALTER TABLE contacts_contact ADD COLUMN facts bigint[] NOT NULL
    GENERATED ALWAYS AS (contacts_facts(country, timezone, tag_keys, platforms, attributes)) STORED;
"""
NO_COLUMN = "ALTER TABLE contacts_contact DROP COLUMN facts;"
INDEX = """
DROP INDEX contact_newest;
CREATE INDEX contact_newest ON contacts_contact (workspace_id, created_at DESC, id DESC) INCLUDE (facts);
"""
NO_INDEX = """
DROP INDEX contact_newest;
CREATE INDEX contact_newest ON contacts_contact (workspace_id, created_at DESC, id DESC);
"""


class Migration(migrations.Migration):
    dependencies = [("contacts", "0004_in_order")]

    operations = [
        migrations.RunSQL(FUNCTIONS, NO_FUNCTIONS),
        migrations.RunSQL(MOVING, BEFORE),
        migrations.RunSQL(COLUMN, NO_COLUMN),
        migrations.RunSQL(INDEX, NO_INDEX),
    ]
