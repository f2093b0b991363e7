"""What the test surfaces read and write."""

from typing import Any

from config.api.fields import BooleanField, ChoiceField, IntegerField, ListField, UUIDField
from config.api.filters import ChoiceFilter, DateTimeFilter, FilterSet, TextFilter, UUIDFilter
from config.api.serializers import Serializer
from config.api.text_fields import CharField, EmailField, TimezoneField


class OwnerSerializer(Serializer):
    name = CharField(max_length=20)
    email = EmailField()


class ThingWriteSerializer(Serializer):
    name = CharField(max_length=20)
    note = CharField(max_length=40, multiline=True, required=False, allow_blank=True)
    owner = OwnerSerializer(required=False)
    plan = UUIDField(required=False, allow_null=True)
    business_type = ChoiceField(choices=["retail", "other"], required=False)
    enabled = BooleanField(required=False)
    size = IntegerField(required=False, min_value=0)
    timezone = TimezoneField(default="UTC")
    order = ListField(child=UUIDField(), max_length=3, distinct=True, required=False)
    events = ListField(child=CharField(max_length=10), max_length=3, min_length=1, required=False)


class ThingSerializer(Serializer):
    """A thing as the test surfaces show it."""

    number = IntegerField(example=1)


class ThingFilterSet(FilterSet):
    """Filters whose values alone are looked at."""

    search = TextFilter(method="keep")
    plan = UUIDFilter(method="keep")
    status = ChoiceFilter(method="keep", choices=[("active", "Active"), ("suspended", "Suspended")])
    after = DateTimeFilter(method="keep")

    def keep(self, rows: Any, name: str, value: Any) -> Any:
        return rows
