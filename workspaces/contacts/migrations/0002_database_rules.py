"""Adds triggers that count contacts and maintain columns and tags, indexes for search and segments, and storage options."""

from django.db import migrations

CHECKS = """
ALTER TABLE contacts_contact
    ADD CONSTRAINT contact_attributes_are_an_object CHECK (jsonb_typeof(attributes) = 'object'),
    ADD CONSTRAINT contact_tags_have_their_keys CHECK (cardinality(tags) = cardinality(tag_keys));
ALTER TABLE contacts_segment ADD CONSTRAINT segment_filter_is_an_object CHECK (jsonb_typeof(filter) = 'object');
"""
NO_CHECKS = """
ALTER TABLE contacts_contact
    DROP CONSTRAINT contact_attributes_are_an_object, DROP CONSTRAINT contact_tags_have_their_keys;
ALTER TABLE contacts_segment DROP CONSTRAINT segment_filter_is_an_object;
"""
# Counting only inserts rows, so transactions that create contacts never wait for each other. Every 32nd insert merges
# the workspace's rows into one and skips rows that are locked.
COUNTING = """
CREATE FUNCTION contacts_count(changed bigint, by integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    added bigint;
BEGIN
    INSERT INTO contacts_contactcount (workspace_id, number) VALUES (changed, by) RETURNING id INTO added;
    IF added % 32 = 0 THEN
        WITH many AS (
            SELECT id FROM contacts_contactcount WHERE workspace_id = changed FOR UPDATE SKIP LOCKED
        ), gone AS (
            DELETE FROM contacts_contactcount WHERE id IN (SELECT id FROM many) RETURNING number
        )
        INSERT INTO contacts_contactcount (workspace_id, number) SELECT changed, sum(number) FROM gone HAVING count(*) > 0;
    END IF;
END $$;
CREATE FUNCTION contacts_count_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM contacts_count(workspace_id, count(*)::integer) FROM new_rows GROUP BY workspace_id;
    RETURN NULL;
END $$;
CREATE FUNCTION contacts_count_removed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM contacts_count(workspace_id, -count(*)::integer) FROM old_rows GROUP BY workspace_id;
    RETURN NULL;
END $$;
CREATE TRIGGER contact_is_counted AFTER INSERT ON contacts_contact
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION contacts_count_added();
CREATE TRIGGER contact_is_no_longer_counted AFTER DELETE ON contacts_contact
    REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION contacts_count_removed();
"""
NO_COUNTING = """
DROP TRIGGER contact_is_counted ON contacts_contact;
DROP TRIGGER contact_is_no_longer_counted ON contacts_contact;
DROP FUNCTION contacts_count_added();
DROP FUNCTION contacts_count_removed();
DROP FUNCTION contacts_count(bigint, integer);
"""
# An INSERT or DELETE adds one row for each combination. An UPDATE adds two rows for each changed contact.
FACETS = """
CREATE FUNCTION contacts_count_facets_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO contacts_contactfacetcount (workspace_id, country, timezone, tag_keys, platforms, number)
    SELECT workspace_id, country, timezone, tag_keys, platforms, count(*) FROM new_rows
    GROUP BY workspace_id, country, timezone, tag_keys, platforms;
    RETURN NULL;
END $$;
CREATE FUNCTION contacts_count_facets_removed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO contacts_contactfacetcount (workspace_id, country, timezone, tag_keys, platforms, number)
    SELECT workspace_id, country, timezone, tag_keys, platforms, -count(*) FROM old_rows
    GROUP BY workspace_id, country, timezone, tag_keys, platforms;
    RETURN NULL;
END $$;
CREATE FUNCTION contacts_count_facets_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO contacts_contactfacetcount (workspace_id, country, timezone, tag_keys, platforms, number)
    VALUES (OLD.workspace_id, OLD.country, OLD.timezone, OLD.tag_keys, OLD.platforms, -1),
        (NEW.workspace_id, NEW.country, NEW.timezone, NEW.tag_keys, NEW.platforms, 1);
    RETURN NULL;
END $$;
CREATE TRIGGER contact_is_counted_by_facets AFTER INSERT ON contacts_contact
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION contacts_count_facets_added();
CREATE TRIGGER contact_is_no_longer_counted_by_facets AFTER DELETE ON contacts_contact
    REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION contacts_count_facets_removed();
CREATE TRIGGER contact_has_other_facets AFTER UPDATE OF country, timezone, tag_keys, platforms ON contacts_contact
    FOR EACH ROW WHEN (
        OLD.country IS DISTINCT FROM NEW.country OR OLD.timezone IS DISTINCT FROM NEW.timezone
        OR OLD.tag_keys IS DISTINCT FROM NEW.tag_keys OR OLD.platforms IS DISTINCT FROM NEW.platforms
    ) EXECUTE FUNCTION contacts_count_facets_changed();
"""
NO_FACETS = """
DROP TRIGGER contact_is_counted_by_facets ON contacts_contact;
DROP TRIGGER contact_is_no_longer_counted_by_facets ON contacts_contact;
DROP TRIGGER contact_has_other_facets ON contacts_contact;
DROP FUNCTION contacts_count_facets_added();
DROP FUNCTION contacts_count_facets_removed();
DROP FUNCTION contacts_count_facets_changed();
"""
# EXECUTE plans the statement for the rows at hand. PL/pgSQL would otherwise plan it once for each connection, and a
# plan made while the tables were empty scans all contacts for each new identity.
PLATFORMS = """
CREATE FUNCTION contacts_keep_platforms() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE '
        UPDATE contacts_contact SET platforms = contacts_contact.platforms || known.platforms
        FROM (
            SELECT contact.id, array_agg(DISTINCT channel.platform) AS platforms
            FROM new_rows
            JOIN subaccounts_channel AS channel ON channel.id = new_rows.channel_id
            JOIN contacts_contact AS contact ON contact.id = new_rows.contact_id
            WHERE channel.platform <> ALL (contact.platforms)
            GROUP BY contact.id
        ) AS known
        WHERE contacts_contact.id = known.id';
    RETURN NULL;
END $$;
CREATE TRIGGER contact_platforms_are_kept AFTER INSERT ON contacts_contactidentity
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION contacts_keep_platforms();
"""
NO_PLATFORMS = """
DROP TRIGGER contact_platforms_are_kept ON contacts_contactidentity;
DROP FUNCTION contacts_keep_platforms();
"""
# A contact's tag rows belong to it alone, so writers never wait for each other. EXECUTE plans the removal each time,
# because a plan made while the table was empty scans all of it. The trigger for changed rows stays on its index for the
# same reason.
TAGS = """
CREATE FUNCTION contacts_keep_tags_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO contacts_contacttag (workspace_id, tag_key, created_at, contact_id)
    SELECT DISTINCT workspace_id, unnest(tag_keys), created_at, id FROM new_rows;
    RETURN NULL;
END $$;
CREATE FUNCTION contacts_keep_tags_removed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE '
        DELETE FROM contacts_contacttag AS there USING (
            SELECT workspace_id, unnest(tag_keys) AS tag_key, created_at, id FROM old_rows
        ) AS gone
        WHERE there.workspace_id = gone.workspace_id AND there.tag_key = gone.tag_key
            AND there.created_at = gone.created_at AND there.contact_id = gone.id';
    RETURN NULL;
END $$;
CREATE FUNCTION contacts_keep_tags_changed() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
    DELETE FROM contacts_contacttag WHERE workspace_id = OLD.workspace_id AND tag_key = ANY (OLD.tag_keys)
        AND created_at = OLD.created_at AND contact_id = OLD.id;
    INSERT INTO contacts_contacttag (workspace_id, tag_key, created_at, contact_id)
    SELECT DISTINCT NEW.workspace_id, unnest(NEW.tag_keys), NEW.created_at, NEW.id;
    RETURN NULL;
END $$;
CREATE TRIGGER contact_tags_are_kept AFTER INSERT ON contacts_contact
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION contacts_keep_tags_added();
CREATE TRIGGER contact_tags_are_no_longer_kept AFTER DELETE ON contacts_contact
    REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION contacts_keep_tags_removed();
CREATE TRIGGER contact_has_other_tags AFTER UPDATE OF tag_keys, created_at ON contacts_contact
    FOR EACH ROW WHEN (
        OLD.tag_keys IS DISTINCT FROM NEW.tag_keys OR OLD.created_at IS DISTINCT FROM NEW.created_at
    ) EXECUTE FUNCTION contacts_keep_tags_changed();
"""
NO_TAGS = """
DROP TRIGGER contact_tags_are_kept ON contacts_contact;
DROP TRIGGER contact_tags_are_no_longer_kept ON contacts_contact;
DROP TRIGGER contact_has_other_tags ON contacts_contact;
DROP FUNCTION contacts_keep_tags_added();
DROP FUNCTION contacts_keep_tags_removed();
DROP FUNCTION contacts_keep_tags_changed();
"""
# An index-only scan needs pages that vacuum has visited since the last import.
TAG_STORAGE = "ALTER TABLE contacts_contacttag SET (autovacuum_vacuum_insert_scale_factor = 0.02)"
NO_TAG_STORAGE = "ALTER TABLE contacts_contacttag RESET (autovacuum_vacuum_insert_scale_factor)"
# With a BEFORE UPDATE trigger, PostgreSQL would recompute `facts` at every update, whichever column changes.
MOVING = """
CREATE FUNCTION contacts_refuse_moving() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'a contact stays with its workspace' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER contact_stays_with_its_workspace AFTER UPDATE OF workspace_id ON contacts_contact
    FOR EACH ROW WHEN (OLD.workspace_id IS DISTINCT FROM NEW.workspace_id) EXECUTE FUNCTION contacts_refuse_moving();
"""
NO_MOVING = """
DROP TRIGGER contact_stays_with_its_workspace ON contacts_contact;
DROP FUNCTION contacts_refuse_moving();
"""
# `facts` holds the values that segments test as numbers in an index, so counting needs no table rows. Each number is a
# 64-bit hash of a kind, a name and a value; a collision of two values is not to be expected. For a contact without
# attributes the function runs no query. `contacts_facts` must not call our own functions, because a dump is restored
# without a search path.
FACTS = """
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
    IF attributes <> '{}' THEN
        FOR pair IN SELECT key, value FROM jsonb_each_text(attributes) WHERE value IS NOT NULL LOOP
            facts := facts || hashtextextended(pair.value, hashtextextended(pair.key, 5));
        END LOOP;
    END IF;
    RETURN facts;
END $$;
ALTER TABLE contacts_contact ADD COLUMN facts bigint[] NOT NULL
    GENERATED ALWAYS AS (contacts_facts(country, timezone, tag_keys, platforms, attributes)) STORED;
"""
NO_FACTS = """
ALTER TABLE contacts_contact DROP COLUMN facts;
DROP FUNCTION contacts_facts(text, text, text[], text[], jsonb);
DROP FUNCTION contacts_fact(integer, text, text);
"""
INDEXES = """
CREATE INDEX contact_search ON contacts_contact USING gin (workspace_id, search_key gin_trgm_ops);
CREATE INDEX task_search ON contacts_task USING gin (workspace_id, search_key gin_trgm_ops);
CREATE INDEX contact_by_tag ON contacts_contact USING gin (workspace_id, tag_keys);
DROP INDEX contact_newest;
CREATE INDEX contact_newest ON contacts_contact (workspace_id, created_at DESC, id DESC) INCLUDE (facts);
"""
NO_INDEXES = """
DROP INDEX contact_search;
DROP INDEX task_search;
DROP INDEX contact_by_tag;
DROP INDEX contact_newest;
CREATE INDEX contact_newest ON contacts_contact (workspace_id, created_at DESC, id DESC);
"""
# `last_inbound_at` is in no index, so its updates stay on the row's page (HOT) while the fill factor leaves room. An
# index-only scan needs pages that vacuum has visited since the last import.
STORAGE = """
ALTER TABLE contacts_contact SET (
    fillfactor = 60, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.02
);
"""
NO_STORAGE = """
ALTER TABLE contacts_contact RESET (
    fillfactor, autovacuum_vacuum_scale_factor, autovacuum_vacuum_insert_scale_factor
);
"""


class Migration(migrations.Migration):
    dependencies = [("contacts", "0001_initial"), ("subaccounts", "0002_database_rules")]

    operations = [
        migrations.RunSQL(CHECKS, NO_CHECKS),
        migrations.RunSQL(COUNTING, NO_COUNTING),
        migrations.RunSQL(FACETS, NO_FACETS),
        migrations.RunSQL(PLATFORMS, NO_PLATFORMS),
        migrations.RunSQL(TAGS, NO_TAGS),
        migrations.RunSQL(TAG_STORAGE, NO_TAG_STORAGE),
        migrations.RunSQL(MOVING, NO_MOVING),
        migrations.RunSQL(FACTS, NO_FACTS),
        migrations.RunSQL(INDEXES, NO_INDEXES),
        migrations.RunSQL(STORAGE, NO_STORAGE),
    ]
