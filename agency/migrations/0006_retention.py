"""Activity may go when it is old, and may be rid of a person's name; and no index that another one covers."""

import django.db.models.deletion
from django.db import migrations, models

# A transaction says for which of two purposes it comes: `SET LOCAL agency.activity`. Whatever it says, the last 30 days
# are never deleted, and nothing but the words about a person is ever changed.
REFUSE = """
CREATE OR REPLACE FUNCTION agency_refuse_rewriting() RETURNS trigger LANGUAGE plpgsql AS $$
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
"""
REFUSE_ALL = """
CREATE OR REPLACE FUNCTION agency_refuse_rewriting() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'activity entries are only ever added' USING ERRCODE = 'restrict_violation';
END $$;
"""


def of_agency(related_name, null=False):
    return models.ForeignKey(
        null=null,
        db_index=False,
        on_delete=django.db.models.deletion.PROTECT,
        related_name=related_name,
        to="agency.agency",
    )


class Migration(migrations.Migration):
    dependencies = [("agency", "0005_member_added")]

    operations = [
        migrations.RunSQL(REFUSE, REFUSE_ALL),
        migrations.AlterField("activityentry", "agency", of_agency("activity", null=True)),
        migrations.AlterField("event", "agency", of_agency("events")),
        migrations.AlterField("member", "agency", of_agency("members")),
    ]
