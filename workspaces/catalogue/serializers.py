"""Products, services, their categories and the staff in the workspace API, and the filters of their lists."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Protocol

from django.db.models import Model, QuerySet

from config.api.fields import BooleanField, ChoiceField, DateTimeField, DecimalField, IntegerField, ListField, UUIDField
from config.api.filters import BooleanFilter, ChoiceFilter, FilterSet, TextFilter, UUIDFilter
from config.api.serializers import Serializer, TenantRelatedField
from config.api.text_fields import CharField, EmailField
from workspaces.catalogue.models import (
    LONGEST_BUFFER,
    LONGEST_DESCRIPTION,
    LONGEST_DURATION,
    LONGEST_HORIZON,
    LONGEST_NAME,
    LONGEST_NOTICE,
    LONGEST_STEP,
    MOST_STOCK,
    PRICE_DECIMALS,
    PRICE_DIGITS,
    SHORTEST_STEP,
    Service,
    ServiceCategory,
    Staff,
    StockMovement,
)
from workspaces.catalogue.services import MOST_PROVIDERS, ServiceCategoryNotFound, find_staff

STAFF = "f7c0a3f4-3a3e-4e35-8d3b-6b6a3f1c0d55"
CATEGORY = "5b0f0a5e-9d5e-4f0a-8a77-0c9ad6f1b0c4"
LARGEST_PRICE = Decimal(10) ** (PRICE_DIGITS - PRICE_DECIMALS) - Decimal("0.01")


# What the settings of appointments mean. A class has each one's default and takes no other value.
BUFFER = "Minutes that the staff member stays free around an appointment. Appointments only, as all that follow."
NOTICE = "So many minutes ahead an appointment must be booked."
HORIZON = "So many days ahead an appointment can be booked."
STEP = "Appointments begin every so many minutes from the beginning of the working hours."
DEPOSIT = "What visitors of the booking page pay in advance; null for nothing."
BOOKABLE = "Whether the booking page offers it."
PROVIDERS = "The ids of the staff members who provide it, at most 50. Without any it cannot be booked."


def price_field(**options: Any) -> DecimalField:
    defaults = {"min_value": Decimal(0), "example": 24.9, "help_text": "At most two decimals."}
    return DecimalField(max_value=LARGEST_PRICE, decimal_places=PRICE_DECIMALS, **{**defaults, **options})


def categories_of_caller(context: Mapping[str, Any]) -> "QuerySet[ServiceCategory]":
    return ServiceCategory.objects.of(context["view"].workspace)


def staff_of_caller(context: Mapping[str, Any]) -> "QuerySet[Staff]":
    return Staff.objects.of(context["view"].workspace)


def category_field() -> TenantRelatedField:
    """Take the id of one of the caller's categories, or null for none."""
    return TenantRelatedField(
        source="category",
        queryset=categories_of_caller,
        missing=ServiceCategoryNotFound,
        representation=ServiceCategorySerializer(),
        required=False,
        allow_null=True,
        default=None,
        example=CATEGORY,
        help_text="A service category of the workspace, or null.",
    )


class ServiceCategorySerializer(Serializer):
    """A heading under which services and products stand."""

    id = UUIDField(source="uuid", read_only=True, example=CATEGORY)
    name = CharField(max_length=LONGEST_NAME, example="Hair care")


class ServiceSerializer(Serializer):
    """What customers book: an appointment of their own, or a seat in a class."""

    id = UUIDField(source="uuid", example="e2ad9f7b-6d27-4c4c-9c70-0f0f8d1f6a11")
    name = CharField(example="Yoga for beginners")
    kind = ChoiceField(Service.Kind.choices, example=Service.Kind.CLASS.value)
    category_id = UUIDField(source="category_uuid", allow_null=True, example=CATEGORY)
    duration_minutes = IntegerField(allow_null=True, example=60)
    price = price_field(allow_null=True)
    buffer_before = IntegerField(help_text=BUFFER, example=0)
    buffer_after = IntegerField(help_text=BUFFER, example=10)
    notice_minutes = IntegerField(help_text=NOTICE, example=120)
    horizon_days = IntegerField(help_text=HORIZON, example=60)
    step_minutes = IntegerField(help_text=STEP, example=15)
    deposit = price_field(allow_null=True, help_text=DEPOSIT, example=None)
    bookable = BooleanField(help_text=BOOKABLE, example=True)
    staff = ListField(child=UUIDField(), source="staff_uuids", help_text=PROVIDERS, example=[STAFF])


class ServiceBodySerializer(Serializer):
    """A service, as it is written."""

    name = CharField(max_length=LONGEST_NAME, example="Yoga for beginners")
    kind = ChoiceField(Service.Kind.choices, example=Service.Kind.CLASS.value)
    category_id = category_field()
    duration_minutes = IntegerField(
        min_value=1, max_value=LONGEST_DURATION, required=False, allow_null=True, default=None, example=60
    )
    price = price_field(required=False, allow_null=True, default=None)
    buffer_before = IntegerField(
        min_value=0, max_value=LONGEST_BUFFER, required=False, default=0, help_text=BUFFER, example=0
    )
    buffer_after = IntegerField(
        min_value=0, max_value=LONGEST_BUFFER, required=False, default=0, help_text=BUFFER, example=0
    )
    notice_minutes = IntegerField(
        min_value=0, max_value=LONGEST_NOTICE, required=False, default=0, help_text=NOTICE, example=0
    )
    horizon_days = IntegerField(
        min_value=1, max_value=LONGEST_HORIZON, required=False, default=60, help_text=HORIZON, example=60
    )
    step_minutes = IntegerField(
        min_value=SHORTEST_STEP, max_value=LONGEST_STEP, required=False, default=15, help_text=STEP, example=15
    )
    deposit = price_field(
        required=False,
        allow_null=True,
        default=None,
        min_value=Decimal("0.01"),
        help_text=f"{DEPOSIT} Not above the price.",
        example=None,
    )
    bookable = BooleanField(required=False, default=True, help_text=BOOKABLE, example=True)
    staff = ListField(
        child=UUIDField(),
        max_length=MOST_PROVIDERS,
        distinct=True,
        required=False,
        default=list,
        help_text=PROVIDERS,
        example=[],
    )

    def to_internal_value(self, data: object) -> Any:
        values = super().to_internal_value(data)
        if values.get("staff"):
            values["staff"] = find_staff(workspace_id=self.context["view"].workspace.pk, uuids=values["staff"])
        return values


class ProductSerializer(Serializer):
    """What a workspace sells."""

    id = UUIDField(source="uuid", example="c0a6a5a1-6f5e-4f0e-9b0e-3f4f6c1d2e7b")
    name = CharField(example="Argan oil shampoo")
    description = CharField(blank_as_null=True, example="250 ml, for dry hair.")
    price = price_field()
    currency = CharField(source="workspace.currency", help_text="The workspace's.", example="EUR")
    track_stock = BooleanField(example=True)
    stock_quantity = IntegerField(
        allow_null=True, help_text="How many are there; null while stock is not tracked.", example=12
    )
    active = BooleanField(example=True)
    category_id = UUIDField(source="category_uuid", allow_null=True, example=CATEGORY)
    created_at = DateTimeField()
    updated_at = DateTimeField()


class ProductBodySerializer(Serializer):
    """A product, as it is written."""

    name = CharField(max_length=LONGEST_NAME, example="Argan oil shampoo")
    price = price_field()
    description = CharField(
        max_length=LONGEST_DESCRIPTION,
        blank_as_null=True,
        multiline=True,
        required=False,
        default="",
        example="250 ml, for dry hair.",
    )
    track_stock = BooleanField(required=False, example=True)
    stock_quantity = IntegerField(
        min_value=0,
        max_value=MOST_STOCK,
        required=False,
        allow_null=True,
        help_text="Only where stock is tracked, from then on or already; null leaves it as it is.",
        example=12,
    )
    active = BooleanField(required=False, default=True, example=True)
    category_id = category_field()


class MovementActorSerializer(Serializer):
    """Who changed the stock."""

    kind = CharField(source="actor_kind", example="workspace_key")
    label = CharField(source="actor_label", example="Shop")  # type: ignore[assignment]  # the field's own name


class StaffSerializer(Serializer):
    """Somebody who works in the business and takes appointments and hosts classes."""

    id = UUIDField(source="uuid", read_only=True, example=STAFF)
    name = CharField(max_length=LONGEST_NAME, example="Mia")
    email = EmailField(required=False, allow_null=True, default=None, example="mia@corner-salon.example")


class StockMovementSerializer(Serializer):
    """One line of a product's stock ledger."""

    id = UUIDField(source="uuid", example="9d4a1f52-7a4b-4f55-8a4e-5b1f0a8f7c22")
    before = IntegerField(example=20)
    change = IntegerField(example=-8)
    after = IntegerField(example=12)
    reason = ChoiceField(StockMovement.Reason.choices, example=StockMovement.Reason.SET.value)
    actor = MovementActorSerializer(source="*")
    created_at = DateTimeField()


class Searched(Protocol):
    """A queryset that can search."""

    def matching(self, fragment: str) -> "QuerySet[Model]": ...


def matching(rows: Searched, _: str, fragment: str) -> "QuerySet[Model]":
    """Keep what a search for the fragment finds."""
    return rows.matching(fragment)


SEARCH = "Only those whose name holds this, in any case; `%` and `_` are plain characters."


class ServiceCategoryFilterSet(FilterSet):
    search = TextFilter(method=matching, help_text=SEARCH)


class StaffFilterSet(FilterSet):
    search = TextFilter(method=matching, help_text=SEARCH)


class ServiceFilterSet(FilterSet):
    search = TextFilter(method=matching, help_text=SEARCH)
    kind = ChoiceFilter(choices=Service.Kind.choices, help_text="Only services of this kind.")
    category = UUIDFilter(field_name="category__uuid", help_text="Only services of this category.")


class ProductFilterSet(FilterSet):
    search = TextFilter(method=matching, help_text=SEARCH)
    active = BooleanFilter(help_text="Only products that are active, or not.")
    category = UUIDFilter(field_name="category__uuid", help_text="Only products of this category.")
