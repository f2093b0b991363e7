"""Keys get an expiry, allowed networks and a successor; an agency's keys may make keys of sub-accounts."""

import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models

NETWORKS = """
ALTER TABLE agency_agencykey ADD CONSTRAINT agency_key_networks_are_networks
    CHECK (cardinality(allowed_networks) <= 20 AND allowed_networks::cidr[] IS NOT NULL);
"""
NO_NETWORKS = "ALTER TABLE agency_agencykey DROP CONSTRAINT agency_key_networks_are_networks;"


class Migration(migrations.Migration):
    dependencies = [("agency", "0003_restored_at")]

    operations = [
        migrations.AddField(
            "agencykey",
            "can_make_keys",
            models.BooleanField(default=False, verbose_name="may make API keys of sub-accounts"),
        ),
        migrations.AddField("agencykey", "expires_at", models.DateTimeField(blank=True, editable=False, null=True)),
        migrations.AddField(
            "agencykey",
            "allowed_networks",
            django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(max_length=43), blank=True, default=list, editable=False, size=None
            ),
        ),
        migrations.AddField(
            "agencykey",
            "replaced_by",
            models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="replaces", to="agency.agencykey"
            ),
        ),
        migrations.AddIndex(
            "agencykey",
            models.Index(
                condition=models.Q(("expires_at__isnull", False), ("replaced_by", None), ("revoked_at", None)),
                fields=["id"],
                name="agency_key_that_expires",
            ),
        ),
        migrations.RunSQL(NETWORKS, NO_NETWORKS),
    ]
