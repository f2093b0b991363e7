"""Adds a table of tags in the list's order, so that a page of contacts with one tag is read from an index."""

from django.db import migrations, models

# A contact's tag rows belong to it alone, so writers never wait for each other. EXECUTE plans the removal each time,
# because a plan made while the table was empty scans all of it.
KEEPING = """
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
CREATE FUNCTION contacts_keep_tags_changed() RETURNS trigger LANGUAGE plpgsql AS $$
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
INSERT INTO contacts_contacttag (workspace_id, tag_key, created_at, contact_id)
SELECT DISTINCT workspace_id, unnest(tag_keys), created_at, id FROM contacts_contact;
"""
NO_KEEPING = """
DROP TRIGGER contact_tags_are_kept ON contacts_contact;
DROP TRIGGER contact_tags_are_no_longer_kept ON contacts_contact;
DROP TRIGGER contact_has_other_tags ON contacts_contact;
DROP FUNCTION contacts_keep_tags_added();
DROP FUNCTION contacts_keep_tags_removed();
DROP FUNCTION contacts_keep_tags_changed();
"""
# An index-only scan needs pages that vacuum has visited since the last import.
STORAGE = "ALTER TABLE contacts_contacttag SET (autovacuum_vacuum_insert_scale_factor = 0.02)"
NO_STORAGE = "ALTER TABLE contacts_contacttag RESET (autovacuum_vacuum_insert_scale_factor)"


class Migration(migrations.Migration):
    dependencies = [("contacts", "0004_contactimport_tries")]

    operations = [
        migrations.CreateModel(
            name="ContactTag",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "workspace_id",
                        "tag_key",
                        "created_at",
                        "contact_id",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("workspace_id", models.BigIntegerField()),
                ("tag_key", models.TextField()),
                ("created_at", models.DateTimeField()),
                ("contact_id", models.BigIntegerField()),
            ],
        ),
        migrations.RunSQL(KEEPING, NO_KEEPING),
        migrations.RunSQL(STORAGE, NO_STORAGE),
    ]
