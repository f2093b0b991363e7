"""Filters of the list of automations."""

from agency.limits import CHANNEL_TYPES
from config.api.filters import BooleanFilter, ChoiceFilter, FilterSet


class AutomationFilterSet(FilterSet):
    platform = ChoiceFilter(
        choices=[(kind, kind) for kind in CHANNEL_TYPES], help_text="Only automations of this channel type."
    )
    enabled = BooleanFilter(help_text="Only automations that are switched on, or off.")
