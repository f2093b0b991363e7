"""The agency's own id and notes of a sub-account, and a search that finds owners too."""

from django.db import migrations, models
from django.db.models import Q, Value

# New rows get theirs from the application, which knows more of Unicode than `lower`.
FILL_OWNER_KEYS = """
UPDATE subaccounts_workspace
SET owner_key = left(lower(normalize(btrim(owner_name), NFKC)), 480) || E'\\n' || lower(owner_email)
"""
SEARCH_INDEX = """
CREATE INDEX workspace_search ON subaccounts_workspace
USING gin (agency_id, name_key gin_trgm_ops, owner_key gin_trgm_ops)
"""
METADATA_CHECK = (
    "ALTER TABLE subaccounts_workspace ADD CONSTRAINT workspace_metadata_is_an_object "
    "CHECK (jsonb_typeof(metadata) = 'object')"
)
OLD_SEARCH_INDEX = (
    "CREATE INDEX workspace_name_search ON subaccounts_workspace USING gin (agency_id, name_key gin_trgm_ops)"
)


class Migration(migrations.Migration):
    dependencies = [("subaccounts", "0003_redundant_index")]

    operations = [
        migrations.AddField("workspace", "external_id", models.CharField(blank=True, max_length=200, null=True)),
        migrations.AddField(
            "workspace",
            "metadata",
            models.JSONField(blank=True, db_default=Value({}, models.JSONField()), default=dict),
        ),
        migrations.AddField(
            "workspace",
            "owner_key",
            models.CharField(default="", editable=False, max_length=1000),
            preserve_default=False,
        ),
        migrations.RunSQL(FILL_OWNER_KEYS, migrations.RunSQL.noop),
        migrations.AddConstraint(
            "workspace", models.CheckConstraint(condition=~Q(owner_key=""), name="workspace_owner_can_be_found")
        ),
        migrations.AddConstraint(
            "workspace",
            models.CheckConstraint(condition=~Q(external_id=""), name="workspace_external_id_is_not_empty"),
        ),
        migrations.AddConstraint(
            "workspace",
            models.UniqueConstraint(
                condition=Q(external_id__isnull=False),
                fields=("agency", "external_id"),
                name="workspace_external_id_once_per_agency",
            ),
        ),
        migrations.AddIndex(
            "workspace",
            models.Index(fields=["agency", "owner_email", "-created_at", "-id"], name="workspace_by_owner_email"),
        ),
        migrations.RunSQL(
            METADATA_CHECK, "ALTER TABLE subaccounts_workspace DROP CONSTRAINT workspace_metadata_is_an_object"
        ),
        migrations.RunSQL(
            [SEARCH_INDEX, "DROP INDEX workspace_name_search"], [OLD_SEARCH_INDEX, "DROP INDEX workspace_search"]
        ),
    ]
