"""Keeps the trigger for changed tags on its index."""

from django.db import migrations

# A session plans the trigger's statements once. A plan made while the table was small reads all of it, for each contact.
BY_INDEX = "ALTER FUNCTION contacts_keep_tags_changed() SET enable_seqscan = off"
AS_PLANNED = "ALTER FUNCTION contacts_keep_tags_changed() RESET enable_seqscan"


class Migration(migrations.Migration):
    dependencies = [("contacts", "0007_no_tries_of_imports")]

    operations = [migrations.RunSQL(BY_INDEX, AS_PLANNED)]
