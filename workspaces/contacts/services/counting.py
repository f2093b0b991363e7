"""Counts a workspace's contacts from stored counts or from an index, without reading the contacts."""

from collections.abc import Mapping
from typing import Final

from django.db import connection
from django.db.models import Q, Sum

from workspaces.contacts.models import Contact, ContactCount, ContactFacetCount
from workspaces.contacts.services.conditions import Counted
from workspaces.subaccounts.models import Workspace

ROWS_TO_MERGE: Final = 500
DUE: Final = """
SELECT workspace_id FROM (
    SELECT workspace_id, count(*) AS number FROM contacts_contactfacetcount WHERE NOT is_merged GROUP BY workspace_id
) AS added
WHERE number >= %(rows)s AND number * 4 >= (
    SELECT count(*) FROM contacts_contactfacetcount AS merged
    WHERE merged.workspace_id = added.workspace_id AND merged.is_merged)
LIMIT 1
"""
MERGE: Final = """
WITH gone AS (
    DELETE FROM contacts_contactfacetcount WHERE workspace_id = %(workspace)s
    RETURNING country, timezone, tag_keys, platforms, number
)
INSERT INTO contacts_contactfacetcount (workspace_id, country, timezone, tag_keys, platforms, number, is_merged)
SELECT %(workspace)s, country, timezone, tag_keys, platforms, sum(number), true FROM gone
GROUP BY country, timezone, tag_keys, platforms HAVING sum(number) <> 0
"""

COUNT: Final = "SELECT {columns} FROM contacts_contact AS contact WHERE {where} AND contact.workspace_id = %s"


def count_contacts(workspace: Workspace) -> int:
    """Return the number of a workspace's contacts from the stored counts."""
    counted = ContactCount.objects.filter(workspace_id=workspace.pk).aggregate(total=Sum("number"))
    return int(counted["total"] or 0)


def used_contacts(workspace: Workspace) -> Mapping[str, int]:
    """Return the usage that the plan's limit of contacts is compared with."""
    return {"contacts": count_contacts(workspace)}


def count_with_tag(workspace: Workspace, key: str) -> int:
    """Count the contacts with a tag. `key` is the tag in the form used for comparison."""
    return count_by_facets(workspace, {"found": Q(tag_keys__contains=[key])})["found"]


def count_by_facets(workspace: Workspace, conditions: Mapping[str, Q]) -> dict[str, int]:
    """Count the contacts that meet each named condition on country, time zone, tags and platforms."""
    sums = {name: Sum("number", filter=condition or None, default=0) for name, condition in conditions.items()}
    counted: dict[str, int] = ContactFacetCount.objects.filter(workspace_id=workspace.pk).aggregate(**sums)
    return counted


def count_by_facts(workspace: Workspace, conditions: Mapping[str, Counted]) -> dict[str, int]:
    """Count the contacts that meet each named condition, in one scan of an index for all conditions."""
    if len(conditions) == 1:
        [condition] = conditions.values()
        columns, where, values = "count(*)", condition.sql, [*condition.values, workspace.pk]
    else:
        columns = ", ".join(f"count(*) FILTER (WHERE {one.sql})" for one in conditions.values())
        where, values = "true", [*(value for one in conditions.values() for value in one.values), workspace.pk]
    with connection.cursor() as cursor:
        cursor.execute(COUNT.format(columns=columns, where=where), values)
        found = cursor.fetchone()
    return dict(zip(conditions, found, strict=True))


def merge_counts(*, rows: int = ROWS_TO_MERGE) -> bool:
    """Merge the count rows of equal facets for one workspace that is due. Return whether there was one.

    A workspace is due when it has at least `rows` new rows and a quarter as many as merged ones, so that the work stays
    in proportion. Rows that are added meanwhile are left alone.
    """
    with connection.cursor() as cursor:
        cursor.execute(DUE, {"rows": rows})
        found = cursor.fetchone()
        if found:
            cursor.execute(MERGE, {"workspace": found[0]})
    return found is not None


def has_contacts(workspace: Workspace) -> bool:
    """Return whether a workspace has any contact."""
    return Contact.objects.of(workspace).exists()
