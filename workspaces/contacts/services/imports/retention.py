"""Retention of file imports that were never started or have ended, with their refused rows."""

from datetime import timedelta

from config.retention import ExpiredRows, RetentionRule

KEPT = timedelta(days=30)
# Small batches, because thousands of rows may go with each import.
BATCH = 500
IMPORTS = ExpiredRows(
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
