"""Contacts that were imported are soon counted from the index alone: pages become all-visible by a vacuum."""

from django.db import migrations

STORAGE = "ALTER TABLE contacts_contact SET (autovacuum_vacuum_insert_scale_factor = 0.02);"
NO_STORAGE = "ALTER TABLE contacts_contact RESET (autovacuum_vacuum_insert_scale_factor);"


class Migration(migrations.Migration):
    dependencies = [("contacts", "0005_facts")]

    operations = [migrations.RunSQL(STORAGE, NO_STORAGE)]
