"""Makes a workspace with any number of contacts."""

from django.db import connection

from benchmarks.rows import agency_with
from workspaces.subaccounts.models import Workspace

INSERT = """
INSERT INTO contacts_contact (uuid, workspace_id, name, phone, email, email_key, country, timezone, tags, tag_keys,
    platforms, attributes, search_key, created_at, updated_at)
SELECT gen_random_uuid(), %(workspace)s, 'Contact Number ' || n, '+49151' || lpad(n::text, 8, '0'),
    'contact.' || n || '@example.com', 'contact.' || n || '@example.com',
    (ARRAY['DE', 'DE', 'DE', 'AT', 'CH', 'US'])[1 + n %% 6],
    (ARRAY['Europe/Berlin', 'Europe/Berlin', 'Europe/Berlin', 'Europe/Vienna', 'Europe/Zurich', NULL])[1 + n %% 6],
    ARRAY['Newsletter', 'Group ' || n %% 20], ARRAY['newsletter', 'group ' || n %% 20],
    CASE n %% 3 WHEN 0 THEN '{}'::varchar[] WHEN 1 THEN ARRAY['whatsapp'] ELSE ARRAY['whatsapp', 'instagram'] END,
    jsonb_build_object('plan', (ARRAY['gold', 'silver', 'none'])[1 + n %% 3], 'number', n::text),
    'contact number ' || n || E'\\n+49151' || lpad(n::text, 8, '0') || E'\\ncontact.' || n || '@example.com',
    now() - n * interval '1 minute', now()
FROM generate_series(%(first)s, %(last)s) AS n
"""
# The indexes are made after the rows, because filling them row by row would take longer than all other work. The index
# for searches costs most, so it is left out unless a benchmark searches.
INDEXES = {
    "contact_by_tag": "INDEX {name} ON contacts_contact USING gin (workspace_id, tag_keys)",
    "contact_newest": "INDEX {name} ON contacts_contact (workspace_id, created_at DESC, id DESC) INCLUDE (facts)",
    "contact_in_order": "INDEX {name} ON contacts_contact (workspace_id, id)",
    "contact_phone_once_per_workspace": (
        "UNIQUE INDEX {name} ON contacts_contact (workspace_id, phone) WHERE phone IS NOT NULL"
    ),
    "contact_email_once_per_workspace": (
        "UNIQUE INDEX {name} ON contacts_contact (workspace_id, email_key) WHERE email_key IS NOT NULL"
    ),
}
SEARCH = {"contact_search": "INDEX {name} ON contacts_contact USING gin (workspace_id, search_key gin_trgm_ops)"}
AT_ONCE = 250_000


def a_workspace() -> Workspace:
    agency, _ = agency_with(1)
    workspace: Workspace = Workspace.objects.select_related("agency").get(agency=agency)
    return workspace


def contacts_in(workspace: Workspace, count: int, *, searchable: bool = False) -> None:
    """Make contacts, and update the tables' statistics."""
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0")
        cursor.execute("SET maintenance_work_mem = '256MB'")
        cursor.execute(f"DROP INDEX IF EXISTS contact_search, {', '.join(INDEXES)}")
        for first in range(1, count + 1, AT_ONCE):
            last = min(count, first + AT_ONCE - 1)
            cursor.execute(INSERT, {"workspace": workspace.pk, "first": first, "last": last})
        for name, definition in (INDEXES | SEARCH if searchable else INDEXES).items():
            cursor.execute(f"CREATE {definition.format(name=name)}")
        cursor.execute("VACUUM ANALYZE contacts_contact, contacts_contactfacetcount")
