"""Workspace keys that expire, that work only from some networks, and that were rolled."""

import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models

NETWORKS = """
ALTER TABLE subaccounts_workspacekey ADD CONSTRAINT workspace_key_networks_are_networks
    CHECK (cardinality(allowed_networks) <= 20 AND allowed_networks::cidr[] IS NOT NULL);
"""
NO_NETWORKS = "ALTER TABLE subaccounts_workspacekey DROP CONSTRAINT workspace_key_networks_are_networks;"


class Migration(migrations.Migration):
    dependencies = [("subaccounts", "0004_restored_at")]

    operations = [
        migrations.AddField("workspacekey", "expires_at", models.DateTimeField(blank=True, editable=False, null=True)),
        migrations.AddField(
            "workspacekey",
            "allowed_networks",
            django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(max_length=43), blank=True, default=list, editable=False, size=None
            ),
        ),
        migrations.AddField(
            "workspacekey",
            "replaced_by",
            models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="replaces",
                to="subaccounts.workspacekey",
            ),
        ),
        migrations.AddIndex(
            "workspacekey",
            models.Index(
                condition=models.Q(("expires_at__isnull", False), ("replaced_by", None), ("revoked_at", None)),
                fields=["id"],
                name="workspace_key_that_expires",
            ),
        ),
        migrations.RunSQL(NETWORKS, NO_NETWORKS),
    ]
