"""How long imports of files are kept: what was never started, and what has ended, with the rows that were not taken."""

from datetime import timedelta

from config.retention.rules import OldRows, RetentionRule

KEPT = timedelta(days=30)
# Each may have thousands of rows that go with it.
BATCH = 500
IMPORTS = OldRows(
    "contacts_contactimport",
    "coalesce(completed_at, started_at, created_at)",
    KEPT,
    of="status <> 'running'",
    belonging=(
        ("contacts_contactimportpiece", "contact_import_id"),
        ("contacts_refusedrow", "contact_import_id"),
    ),
)


def forget_imports() -> int:
    return IMPORTS.forget(BATCH)


RULES = (RetentionRule("contact_imports", KEPT, forget_imports, IMPORTS.lag),)
