"""Adds the times of a contact's last consent and marketing statements, and of its last reported ids."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("contacts", "0002_database_rules")]

    operations = [
        migrations.AddField("contact", "consent_told_at", models.DateTimeField(editable=False, null=True)),
        migrations.AddField("contact", "marketing_told_at", models.DateTimeField(editable=False, null=True)),
        migrations.AddField("contactidentity", "ids_told_at", models.DateTimeField(editable=False, null=True)),
    ]
