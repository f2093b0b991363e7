"""Filters of the delivery log."""

from config.api.filters import ChoiceFilter, DateTimeFilter, FilterSet, TextFilter, UUIDFilter
from webhooks.models import Delivery


class WorkspaceDeliveryFilterSet(FilterSet):
    """`services.log.LogFilters` takes the values by these names, as the log is not read by a queryset."""

    status = ChoiceFilter(choices=Delivery.Status.choices, help_text="Only deliveries with this status.")
    event = TextFilter(help_text="Only deliveries of this event.")
    envelope_id = UUIDFilter(help_text="Only deliveries of this envelope: the first, and each time it was sent again.")
    created_after = DateTimeFilter(help_text="Only deliveries made at this time or later.")
    created_before = DateTimeFilter(help_text="Only deliveries made before this time.")

    class Meta:
        model = Delivery
        fields: tuple[str, ...] = ()


class DeliveryFilterSet(WorkspaceDeliveryFilterSet):
    """An agency's events may be about one of its sub-accounts."""

    workspace = UUIDFilter(help_text="Only deliveries whose event is about this sub-account.")
