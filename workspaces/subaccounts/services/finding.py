"""The search for sub-accounts and channels by name, id or phone number. Indexes answer every query."""

from typing import Final

from django.db.models import CharField, F, Func, Q, QuerySet
from django.db.models.functions import Lower

from agency.limits import CHANNEL_TYPES
from agency.models import Agency
from config.api.requests import parse_uuid
from config.db import like_pattern, name_key, prefix_pattern
from workspaces.subaccounts.models import Channel, Workspace
from workspaces.subaccounts.models.workspaces import found_by

# If more rows match, only this many are ranked. The user then needs a longer query.
MOST_LOOKED_AT: Final = 1_000
TRIGRAM: Final = 3


class Digits(Func):
    """The digits of a text, as the indexes on phone numbers hold them."""

    function = "regexp_replace"
    template = r"%(function)s(%(expressions)s, '\D', '', 'g')"
    output_field = CharField()


def find_workspaces(agency: Agency | None, query: str, *, digits: str, most: int) -> list[Workspace]:
    """Find sub-accounts by name, owner, e-mail and ids, and by phone number if there are `digits`.

    Sub-accounts with exactly this name come first, then names that begin with the query. Without `agency`, support
    searches all agencies; then fewer than three characters find nothing, because no index answers them.
    """
    key = name_key(query)
    if agency is None and len(key) < TRIGRAM:
        return []
    own = Workspace.objects.select_related("agency") if agency is None else Workspace.objects.of(agency)
    rows = own.annotate(external_key=Lower("external_id"), phone_digits=Digits(F("phone")))
    hits: list[tuple[int, str]] = list(
        rows.filter(_conditions(query, key, digits)).values_list("id", "name_key")[:MOST_LOOKED_AT]
    )
    best = sorted(hits, key=lambda hit: (hit[1] != key, not hit[1].startswith(key), hit[1], hit[0]))[:most]
    found = own.in_bulk([number for number, _ in best]) if best else {}
    return [found[number] for number, _ in best if number in found]


def _conditions(query: str, key: str, digits: str) -> Q:
    """Give the condition. Fewer than three characters match only beginnings of names, for lack of a trigram.

    A complete uuid matches as a uuid and in external ids.
    """
    if uuid := parse_uuid(query):
        return Q(uuid=uuid) | Q(external_key__like=like_pattern(key))
    if len(key) < TRIGRAM:
        return Q(name_key__like=prefix_pattern(key))
    conditions = found_by(query) | Q(external_key__like=like_pattern(key))
    return conditions | Q(phone_digits__like=like_pattern(digits)) if digits else conditions


def find_channels(agency: Agency, query: str, *, digits: str, most: int) -> "QuerySet[Channel]":
    """Find connected channels by the provider's id, and by phone number if there are `digits`."""
    conditions = Q(external_id=query, platform__in=CHANNEL_TYPES)
    if digits:
        conditions |= Q(handle_digits__like=like_pattern(digits))
    rows = Channel.objects.annotate(handle_digits=Digits(F("handle"))).filter(conditions, workspace__agency=agency)
    connected = rows.exclude(status=Channel.Status.DISCONNECTED)
    return connected.select_related("workspace").order_by("handle", "id")[:most]
