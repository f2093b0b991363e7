"""The rule that keeps a contact's platforms plans each time anew, for as many rows as it is given.

A statement without parameters is planned once for a connection. One that was planned while the tables were empty went
through all contacts for each new identity, and through those again, until several hundred took longer than a request may.
"""

from django.db import migrations

PLATFORMS = """
CREATE OR REPLACE FUNCTION contacts_keep_platforms() RETURNS trigger LANGUAGE plpgsql AS $$
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
"""
BEFORE = PLATFORMS.replace("EXECUTE '\n", "\n").replace("known.id';", "known.id;")


class Migration(migrations.Migration):
    dependencies = [("contacts", "0007_facts_without_attributes")]

    operations = [migrations.RunSQL(PLATFORMS, BEFORE)]
