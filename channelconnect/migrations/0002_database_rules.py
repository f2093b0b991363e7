"""Rules that Django cannot declare: lengths of digests, a session in its own agency's sub-account, storage settings."""

from django.db import migrations

DIGESTS = [
    ("channelconnect_connectsession", "connect_link_is_sha256", "octet_length(link_digest) = 32"),
    ("channelconnect_connectsession", "connect_browser_is_sha256", "octet_length(browser_digest) = 32"),
    ("channelconnect_connectsession", "connect_state_is_sha256", "octet_length(state_digest) = 32"),
    (
        "channelconnect_connectsession",
        "connect_continues_in_a_browser",
        "status NOT IN ('authorizing', 'selecting', 'connected') OR browser_digest IS NOT NULL",
    ),
    ("channelconnect_connectsession", "connect_request_is_sha256", "octet_length(request_digest) = 32"),
    ("channelconnect_providernotice", "notice_digest_is_sha256", "octet_length(digest) = 32"),
]
# A session is begun before its workspace moves to another agency or after the move, but never during it.
ONE_TENANT = """
CREATE FUNCTION channelconnect_refuse_foreign() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM subaccounts_workspace WHERE id = NEW.workspace_id AND agency_id = NEW.agency_id FOR KEY SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'a session is about a sub-account of its agency' USING ERRCODE = 'restrict_violation';
    END IF;
    IF EXISTS (SELECT FROM subaccounts_channel WHERE id IN (NEW.target_id, NEW.channel_id)
            AND workspace_id <> NEW.workspace_id) THEN
        RAISE EXCEPTION 'a session connects channels of its sub-account' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER connect_session_has_one_tenant
    BEFORE INSERT OR UPDATE OF agency_id, workspace_id, target_id, channel_id ON channelconnect_connectsession
    FOR EACH ROW EXECUTE FUNCTION channelconnect_refuse_foreign();
"""
NO_TENANT = """
DROP TRIGGER connect_session_has_one_tenant ON channelconnect_connectsession;
DROP FUNCTION channelconnect_refuse_foreign();
"""
# A notice is written twice: when it arrives and when it is read. Read notices leave dead entries at the front of the
# indexes, where readers begin, so vacuum runs after every few thousand.
STORED = """
ALTER TABLE channelconnect_providernotice SET (
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0,
    autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 50000
);
"""
AS_USUAL = """
ALTER TABLE channelconnect_providernotice RESET (
    autovacuum_vacuum_scale_factor, autovacuum_vacuum_threshold, autovacuum_vacuum_cost_delay,
    autovacuum_analyze_scale_factor, autovacuum_analyze_threshold
);
"""


class Migration(migrations.Migration):
    dependencies = [("channelconnect", "0001_initial")]

    operations = [
        *(
            migrations.RunSQL(
                f"ALTER TABLE {table} ADD CONSTRAINT {name} CHECK ({rule})",
                f"ALTER TABLE {table} DROP CONSTRAINT {name}",
            )
            for table, name, rule in DIGESTS
        ),
        migrations.RunSQL(ONE_TENANT, NO_TENANT),
        migrations.RunSQL(STORED, AS_USUAL),
    ]
