"""Filters of the delivery log."""

from config.api.filters import ChoiceFilter, FilterSet, TextFilter
from webhooks.models import Delivery


class DeliveryFilterSet(FilterSet):
    """`Delivery.objects.newest` takes the values, as each combination has an index of its own."""

    status = ChoiceFilter(choices=Delivery.Status.choices, help_text="Only deliveries with this status.")
    event = TextFilter(help_text="Only deliveries of this event.")

    class Meta:
        model = Delivery
        fields: tuple[str, ...] = ()
