"""The tags and details that a workspace's contacts have already, to suggest them in forms."""

from collections.abc import Mapping
from typing import Final

from django.db import connection

from config.db import name_key
from workspaces.subaccounts.models import Workspace

MOST_TAGS_SUGGESTED: Final = 100
# Each step reads one row of the index, so the work does not grow with the number of contacts.
KNOWN_TAGS: Final = """
WITH RECURSIVE known AS (
    (SELECT tag_key, contact_id, 1 AS number FROM contacts_contacttag
        WHERE workspace_id = %(workspace)s ORDER BY tag_key, created_at, contact_id LIMIT 1)
    UNION ALL
    SELECT following.tag_key, following.contact_id, known.number + 1 FROM known CROSS JOIN LATERAL (
        SELECT tag_key, contact_id FROM contacts_contacttag
        WHERE workspace_id = %(workspace)s AND tag_key > known.tag_key ORDER BY tag_key, created_at, contact_id LIMIT 1
    ) AS following WHERE known.number < %(most)s
)
SELECT known.tag_key, contact.tags FROM known JOIN contacts_contact AS contact ON contact.id = known.contact_id
ORDER BY known.tag_key
"""
CONTACTS_READ: Final = 300
MOST_DETAILS_SUGGESTED: Final = 200
LONGEST_SUGGESTED: Final = 60
# Only the details of the newest contacts are read.
KNOWN_DETAILS: Final = """
SELECT held.name, held.value FROM (
    SELECT attributes FROM contacts_contact WHERE workspace_id = %s ORDER BY created_at DESC, id DESC LIMIT %s
) AS newest CROSS JOIN LATERAL jsonb_each_text(newest.attributes) AS held (name, value)
WHERE length(held.value) BETWEEN 1 AND %s
GROUP BY held.name, held.value ORDER BY count(*) DESC, held.name, held.value LIMIT %s
"""


def known_tags(workspace: Workspace) -> list[str]:
    """Return up to 100 tags of the workspace's contacts in the order of the alphabet, each as a contact has it."""
    with connection.cursor() as cursor:
        cursor.execute(KNOWN_TAGS, {"workspace": workspace.pk, "most": MOST_TAGS_SUGGESTED})
        found: list[tuple[str, list[str]]] = cursor.fetchall()
    return [next((tag for tag in tags if name_key(tag) == key), key) for key, tags in found]


def known_details(workspace: Workspace) -> Mapping[str, list[str]]:
    """Return the names of the newest contacts' details, each with its short values. The most frequent come first."""
    with connection.cursor() as cursor:
        cursor.execute(KNOWN_DETAILS, [workspace.pk, CONTACTS_READ, LONGEST_SUGGESTED, MOST_DETAILS_SUGGESTED])
        found: dict[str, list[str]] = {}
        for name, value in cursor.fetchall():
            found.setdefault(name, []).append(value)
    return found
