"""The agency app's results in the console's search: plans and add-ons, and the team. There are few of each."""

from collections.abc import Iterator

from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext as _

from agency.models import Addon, Agency, Member, Plan
from agency.pages.finding import Found
from config.api.requests import parse_uuid
from config.db import name_key


def found_plans(agency: Agency, query: str, most: int) -> Iterator[Found]:
    return _found_items(Plan, "console:plan", agency, query, most)


def found_addons(agency: Agency, query: str, most: int) -> Iterator[Found]:
    return _found_items(Addon, "console:addon", agency, query, most)


def _found_items(model: type[Plan] | type[Addon], page: str, agency: Agency, query: str, most: int) -> Iterator[Found]:
    uuid = parse_uuid(query)
    wanted = Q(uuid=uuid) if uuid else Q(name_key__contains=name_key(query))
    for item in model._default_manager.filter(wanted, agency=agency).order_by("name_key", "id")[:most]:
        detail = _("Archived") if item.archived_at else ""
        yield Found(title=item.name, detail=detail, url=reverse(page, args=[item.uuid]))


def found_members(agency: Agency, query: str, most: int) -> Iterator[Found]:
    rows = Member.objects.filter(Q(user__email__icontains=query) | Q(user__name__icontains=query), agency=agency)
    for member in rows.select_related("user").order_by("user__email", "id")[:most]:
        yield Found(title=str(member.user), detail=member.get_role_display(), url=reverse("console:team"))
