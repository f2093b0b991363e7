"""Filters of the list of automations."""

from agency.limits import CHANNEL_TYPES
from config.api.filters import BooleanFilter, ChoiceFilter, FilterSet, TextFilter, UUIDFilter


class AutomationFilterSet(FilterSet):
    platform = ChoiceFilter(
        choices=[(kind, kind) for kind in CHANNEL_TYPES], help_text="Only automations of this channel type."
    )
    enabled = BooleanFilter(help_text="Only automations that are switched on, or off.")


class AutomationListFilterSet(FilterSet):
    """What narrows the dashboard's list; whether an automation that is off is ready is no condition of its row."""

    search = TextFilter(field_name="name", lookup_expr="icontains")
    channel = ChoiceFilter(field_name="platform", choices=[(kind, kind) for kind in CHANNEL_TYPES])
    pack = UUIDFilter(field_name="from_pack")
