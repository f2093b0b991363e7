"""Segments, imports of files, indexes for search and segments, and what the database counts and keeps by itself."""

import uuid

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.expressions
import django.utils.timezone
from django.db import migrations, models

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
INDEXES = """
CREATE INDEX contact_search ON contacts_contact USING gin (workspace_id, search_key gin_trgm_ops);
CREATE INDEX contact_by_tag ON contacts_contact USING gin (workspace_id, tag_keys);
"""
NO_INDEXES = "DROP INDEX contact_search; DROP INDEX contact_by_tag;"
# Counting adds rows and locks none, so that nobody who makes contacts waits for anybody else who does. Now and then whoever
# counts makes one row of many, as far as nobody else holds them.
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
CREATE FUNCTION contacts_refuse_moving() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'a contact stays with its workspace' USING ERRCODE = 'restrict_violation';
END $$;
CREATE FUNCTION contacts_keep_platforms() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE contacts_contact SET platforms = contacts_contact.platforms || known.platforms
    FROM (
        SELECT contact.id, array_agg(DISTINCT channel.platform) AS platforms
        FROM new_rows
        JOIN subaccounts_channel AS channel ON channel.id = new_rows.channel_id
        JOIN contacts_contact AS contact ON contact.id = new_rows.contact_id
        WHERE channel.platform <> ALL (contact.platforms)
        GROUP BY contact.id
    ) AS known
    WHERE contacts_contact.id = known.id;
    RETURN NULL;
END $$;
CREATE TRIGGER contact_is_counted AFTER INSERT ON contacts_contact
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION contacts_count_added();
CREATE TRIGGER contact_is_no_longer_counted AFTER DELETE ON contacts_contact
    REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION contacts_count_removed();
CREATE TRIGGER contact_stays_with_its_workspace BEFORE UPDATE OF workspace_id ON contacts_contact
    FOR EACH ROW WHEN (OLD.workspace_id IS DISTINCT FROM NEW.workspace_id) EXECUTE FUNCTION contacts_refuse_moving();
CREATE TRIGGER contact_platforms_are_kept AFTER INSERT ON contacts_contactidentity
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION contacts_keep_platforms();
"""
NO_COUNTING = """
DROP TRIGGER contact_is_counted ON contacts_contact;
DROP TRIGGER contact_is_no_longer_counted ON contacts_contact;
DROP TRIGGER contact_stays_with_its_workspace ON contacts_contact;
DROP TRIGGER contact_platforms_are_kept ON contacts_contactidentity;
DROP FUNCTION contacts_count_added();
DROP FUNCTION contacts_count_removed();
DROP FUNCTION contacts_count(bigint, integer);
DROP FUNCTION contacts_refuse_moving();
DROP FUNCTION contacts_keep_platforms();
"""


class Migration(migrations.Migration):
    dependencies = [
        ("contacts", "0001_initial"),
        ("subaccounts", "0006_workspace_settings"),
    ]

    operations = [
        migrations.AddField(
            model_name="contact",
            name="platforms",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(max_length=20), db_default=[], default=list, editable=False, size=None
            ),
        ),
        migrations.AddField(
            model_name="contact",
            name="tag_keys",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.TextField(), db_default=[], default=list, editable=False, size=None
            ),
        ),
        migrations.CreateModel(
            name="ContactCount",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("workspace_id", models.BigIntegerField()),
                ("number", models.IntegerField()),
            ],
            options={
                "indexes": [
                    models.Index(fields=["workspace_id"], include=("number",), name="contact_count_of_workspace")
                ],
            },
        ),
        migrations.CreateModel(
            name="ContactImport",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("uuid", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("filename", models.CharField(max_length=200)),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("uploaded", "Columns to be chosen"),
                            ("running", "Running"),
                            ("completed", "Completed"),
                            ("cancelled", "Cancelled"),
                        ],
                        default="uploaded",
                        max_length=10,
                    ),
                ),
                ("columns", models.JSONField()),
                ("mapping", models.JSONField(db_default=[], default=list)),
                ("tags", models.JSONField(db_default=[], default=list)),
                ("default_country", models.CharField(blank=True, db_default="", max_length=2)),
                ("rows_total", models.IntegerField()),
                ("rows_done", models.IntegerField(default=0)),
                ("created", models.IntegerField(default=0)),
                ("updated", models.IntegerField(default=0)),
                ("refused", models.IntegerField(default=0)),
                ("by_label", models.CharField(max_length=254)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ("started_at", models.DateTimeField(null=True)),
                ("completed_at", models.DateTimeField(null=True)),
                (
                    "workspace",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="contact_imports",
                        to="subaccounts.workspace",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["workspace", "-created_at", "-id"], name="contact_import_newest"),
                    models.Index(
                        condition=models.Q(("status", "running")), fields=["id"], name="contact_import_running"
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "rows_done",
                                django.db.models.expressions.CombinedExpression(
                                    django.db.models.expressions.CombinedExpression(
                                        models.F("created"), "+", models.F("updated")
                                    ),
                                    "+",
                                    models.F("refused"),
                                ),
                            )
                        ),
                        name="contact_import_counts_add_up",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ContactImportPiece",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("first_row", models.IntegerField()),
                ("rows", models.JSONField()),
                (
                    "contact_import",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="pieces",
                        to="contacts.contactimport",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("contact_import", "first_row"), name="contact_import_piece_once"),
                ],
            },
        ),
        migrations.CreateModel(
            name="RefusedRow",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("row", models.IntegerField()),
                ("values", models.JSONField()),
                ("reason", models.TextField()),
                (
                    "contact_import",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="refused_rows",
                        to="contacts.contactimport",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("contact_import", "row"), name="contact_import_row_refused_once"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Segment",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("uuid", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("name", models.CharField(max_length=120)),
                ("name_key", models.CharField(editable=False, max_length=480)),
                ("filter", models.JSONField(db_default={}, default=dict)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ("updated_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                (
                    "workspace",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="segments",
                        to="subaccounts.workspace",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["workspace", "-created_at", "-id"], name="segment_newest"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("workspace", "name_key"), name="segment_name_once_per_workspace"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("name", ""), _negated=True), models.Q(("name_key", ""), _negated=True)
                        ),
                        name="segment_has_a_name",
                    ),
                ],
            },
        ),
        migrations.RunSQL(CHECKS, NO_CHECKS),
        migrations.RunSQL(INDEXES, NO_INDEXES),
        migrations.RunSQL(COUNTING, NO_COUNTING),
    ]
