"""Counts by country, time zone, tags and platforms, from which the sizes of segments follow; room for new versions."""

import django.contrib.postgres.fields
from django.db import migrations, models

# Of what a statement adds or removes, one row for each combination; of what it changes, two for each contact.
COUNTING = """
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
INSERT INTO contacts_contactfacetcount (workspace_id, country, timezone, tag_keys, platforms, number, is_merged)
SELECT workspace_id, country, timezone, tag_keys, platforms, count(*), true FROM contacts_contact
GROUP BY workspace_id, country, timezone, tag_keys, platforms;
"""
NO_COUNTING = """
DROP TRIGGER contact_is_counted_by_facets ON contacts_contact;
DROP TRIGGER contact_is_no_longer_counted_by_facets ON contacts_contact;
DROP TRIGGER contact_has_other_facets ON contacts_contact;
DROP FUNCTION contacts_count_facets_added();
DROP FUNCTION contacts_count_facets_removed();
DROP FUNCTION contacts_count_facets_changed();
"""
# When somebody was last heard of stands in no index: its new version stays on the row's page where there is room.
STORAGE = "ALTER TABLE contacts_contact SET (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.05);"
NO_STORAGE = "ALTER TABLE contacts_contact RESET (fillfactor, autovacuum_vacuum_scale_factor);"


class Migration(migrations.Migration):
    dependencies = [("contacts", "0002_segments_imports_and_counts")]

    operations = [
        migrations.CreateModel(
            name="ContactFacetCount",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("workspace_id", models.BigIntegerField()),
                ("country", models.CharField(max_length=2, null=True)),
                ("timezone", models.CharField(max_length=64, null=True)),
                ("tag_keys", django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), size=None)),
                (
                    "platforms",
                    django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=20), size=None),
                ),
                ("number", models.IntegerField()),
                ("is_merged", models.BooleanField(db_default=False, default=False)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["workspace_id"], name="contact_facets_of_workspace"),
                    models.Index(
                        condition=models.Q(("is_merged", False)),
                        fields=["workspace_id"],
                        name="contact_facets_to_merge",
                    ),
                ],
            },
        ),
        migrations.RunSQL(COUNTING, NO_COUNTING),
        migrations.RunSQL(STORAGE, NO_STORAGE),
    ]
