"""Rules that only the database can hold: what a digest looks like, and that activity is only ever added."""

from django.db import migrations

HASH_CHECK = "ALTER TABLE agency_agencykey ADD CONSTRAINT agency_key_hash_is_sha256 CHECK (octet_length(key_hash) = 32)"
APPEND_ONLY = """
CREATE FUNCTION agency_refuse_rewriting() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'activity entries are only ever added' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER activity_is_append_only BEFORE UPDATE OR DELETE ON agency_activityentry
    FOR EACH ROW EXECUTE FUNCTION agency_refuse_rewriting();
CREATE TRIGGER activity_is_never_emptied BEFORE TRUNCATE ON agency_activityentry
    FOR EACH STATEMENT EXECUTE FUNCTION agency_refuse_rewriting();
"""


class Migration(migrations.Migration):
    dependencies = [("agency", "0001_initial")]

    operations = [
        migrations.RunSQL(HASH_CHECK, "ALTER TABLE agency_agencykey DROP CONSTRAINT agency_key_hash_is_sha256"),
        migrations.RunSQL(
            APPEND_ONLY,
            "DROP TRIGGER activity_is_append_only ON agency_activityentry; "
            "DROP TRIGGER activity_is_never_emptied ON agency_activityentry; "
            "DROP FUNCTION agency_refuse_rewriting();",
        ),
    ]
