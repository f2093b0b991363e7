"""Rules that only the database can hold: for keys, activity, domains and sign-up."""

from django.db import migrations

HASH = (
    "ALTER TABLE agency_agencykey ADD CONSTRAINT agency_key_hash_is_sha256 CHECK (octet_length(key_hash) = 32)",
    "ALTER TABLE agency_agencykey DROP CONSTRAINT agency_key_hash_is_sha256",
)
NETWORKS = """
ALTER TABLE agency_agencykey ADD CONSTRAINT agency_key_networks_are_networks
    CHECK (cardinality(allowed_networks) <= 20 AND allowed_networks::cidr[] IS NOT NULL);
"""
NO_NETWORKS = "ALTER TABLE agency_agencykey DROP CONSTRAINT agency_key_networks_are_networks;"
# A transaction names one of two purposes: `SET LOCAL agency.activity`. For either purpose the last 30 days are never
# deleted, and only the text about a person is ever changed.
ACTIVITY = """
CREATE FUNCTION agency_refuse_rewriting() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND current_setting('agency.activity', true) = 'retention' THEN
        IF OLD.at < statement_timestamp() - interval '30 days' THEN
            RETURN OLD;
        END IF;
    ELSIF TG_OP = 'UPDATE' AND current_setting('agency.activity', true) = 'erasure' THEN
        IF (NEW.id, NEW.agency_id, NEW.workspace_uuid, NEW.at, NEW.actor_kind, NEW.actor_id, NEW.action,
                NEW.target_kind, NEW.target_id, NEW.request_id)
            IS NOT DISTINCT FROM (OLD.id, OLD.agency_id, OLD.workspace_uuid, OLD.at, OLD.actor_kind, OLD.actor_id,
                OLD.action, OLD.target_kind, OLD.target_id, OLD.request_id) THEN
            RETURN NEW;
        END IF;
    END IF;
    RAISE EXCEPTION 'activity entries are only ever added' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER activity_is_append_only BEFORE UPDATE OR DELETE ON agency_activityentry
    FOR EACH ROW EXECUTE FUNCTION agency_refuse_rewriting();
CREATE TRIGGER activity_is_never_emptied BEFORE TRUNCATE ON agency_activityentry
    FOR EACH STATEMENT EXECUTE FUNCTION agency_refuse_rewriting();
"""
NO_ACTIVITY = """
DROP TRIGGER activity_is_append_only ON agency_activityentry;
DROP TRIGGER activity_is_never_emptied ON agency_activityentry;
DROP FUNCTION agency_refuse_rewriting();
"""
# PostgreSQL notifies every process of a change when it is committed.
DOMAINS = """
CREATE FUNCTION agency_notify_of_domains() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('agency_domains', '');
    RETURN NULL;
END $$;
CREATE TRIGGER new_domains_are_heard_of AFTER INSERT OR DELETE OR TRUNCATE
    ON agency_domain FOR EACH STATEMENT EXECUTE FUNCTION agency_notify_of_domains();
CREATE TRIGGER changed_domains_are_heard_of AFTER UPDATE ON agency_domain FOR EACH ROW
    WHEN ((OLD.agency_id, OLD.host, OLD.state, OLD.is_primary)
        IS DISTINCT FROM (NEW.agency_id, NEW.host, NEW.state, NEW.is_primary))
    EXECUTE FUNCTION agency_notify_of_domains();
"""
NO_DOMAINS = """
DROP TRIGGER new_domains_are_heard_of ON agency_domain;
DROP TRIGGER changed_domains_are_heard_of ON agency_domain;
DROP FUNCTION agency_notify_of_domains();
"""
# New workspaces take the agency's default plan. The check runs at the end of a transaction, which may change both.
SIGN_UP = """
CREATE FUNCTION agency_sign_up_needs_plan() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM agency_signupsettings WHERE agency_id = coalesce(NEW.agency_id, OLD.agency_id)
            AND (is_on OR allows_further_workspaces))
        AND NOT EXISTS (SELECT FROM agency_plan WHERE agency_id = coalesce(NEW.agency_id, OLD.agency_id) AND is_default)
    THEN
        RAISE EXCEPTION 'sign-up needs a default plan'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'sign_up_needs_a_default_plan';
    END IF;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER sign_up_needs_a_default_plan AFTER INSERT OR UPDATE ON agency_signupsettings
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.is_on OR NEW.allows_further_workspaces)
    EXECUTE FUNCTION agency_sign_up_needs_plan();
CREATE CONSTRAINT TRIGGER sign_up_keeps_its_default_plan AFTER UPDATE OF is_default OR DELETE ON agency_plan
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (OLD.is_default)
    EXECUTE FUNCTION agency_sign_up_needs_plan();
"""
NO_SIGN_UP = """
DROP TRIGGER sign_up_needs_a_default_plan ON agency_signupsettings;
DROP TRIGGER sign_up_keeps_its_default_plan ON agency_plan;
DROP FUNCTION agency_sign_up_needs_plan();
"""


class Migration(migrations.Migration):
    dependencies = [("agency", "0001_initial")]

    operations = [
        migrations.RunSQL(*HASH),
        migrations.RunSQL(NETWORKS, NO_NETWORKS),
        migrations.RunSQL(ACTIVITY, NO_ACTIVITY),
        migrations.RunSQL(DOMAINS, NO_DOMAINS),
        migrations.RunSQL(SIGN_UP, NO_SIGN_UP),
    ]
