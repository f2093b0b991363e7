"""Reads the newest contacts that meet filters, however many others there are."""

from typing import Final

from django.db import connection
from django.db.models import Q, QuerySet

from workspaces.contacts.models import Contact, Segment
from workspaces.contacts.services.counting import count_by_facets
from workspaces.contacts.services.segments import FACETS, filter_to_q, filter_to_sql, has_only_facets, segment_contacts

NEWEST_FOUND: Final = """
SELECT contact.id FROM contacts_contact AS contact WHERE contact.workspace_id = %s AND {where}
ORDER BY contact.created_at DESC, contact.id DESC LIMIT %s
"""


def newest_keys(rows: "QuerySet[Contact]", most: int) -> list[int] | None:
    """Return the primary keys of the contacts that a query finds, newest first, or None if there are more than `most`.

    They are put in order here. For a query with an order and a small limit, PostgreSQL often walks through all contacts
    from the newest on, and reads every one of them where few are found.
    """
    found = list(rows.order_by().values_list("created_at", "pk")[: most + 1])
    return [pk for _, pk in sorted(found, reverse=True)] if len(found) <= most else None


def newest_of_segment(segment: Segment, most: int) -> list[int]:
    """Return the primary keys of up to `most` of a segment's contacts, newest first.

    Contacts with a rare tag come from the index of tags. All others come from a scan of the index `contact_newest`.
    """
    by_tag = {name: tags for name, tags in segment.filter.items() if name in ("tags_any", "tags_all")}
    if by_tag or has_only_facets(segment.filter):
        countable = {name: value for name, value in segment.filter.items() if name in FACETS}
        conditions = {"tagged": filter_to_q(by_tag), "found": filter_to_q(countable)}
        counted = count_by_facets(segment.workspace, conditions)
        if counted["found"] == 0:
            return []
        if by_tag and counted["tagged"] < most:
            keys = newest_keys(segment_contacts(segment), most)
            if keys is not None:
                return keys
    condition = filter_to_sql(segment.filter)
    with connection.cursor() as cursor:
        cursor.execute(NEWEST_FOUND.format(where=condition.sql), [segment.workspace_id, *condition.values, most])
        return [pk for (pk,) in cursor.fetchall()]


def of_segment(segment: Segment, most: int) -> Q:
    """Return a segment's filter as a condition to combine with others. Up to `most` contacts are looked up first."""
    keys = newest_of_segment(segment, most + 1)
    return Q(pk__in=keys) if len(keys) <= most else filter_to_q(segment.filter)
