"""What a workspace offers: products with their stock ledger, services, the categories of both, and the staff."""

import uuid
from typing import Self
from uuid import UUID

from django.db import models
from django.db.models import F, Q
from django.utils.timezone import now
from django.utils.translation import gettext_lazy as _

from config.db import like_pattern, name_key
from workspaces.subaccounts.models import Workspace

LONGEST_NAME = 120
LONGEST_NAME_KEY = 480
LONGEST_DURATION = 24 * 60
LONGEST_BUFFER = 12 * 60
LONGEST_NOTICE = 90 * 24 * 60
LONGEST_HORIZON = 366
SHORTEST_STEP, LONGEST_STEP = 5, 24 * 60
# A price has up to ten digits before the decimal point and two after it.
PRICE_DIGITS, PRICE_DECIMALS = 12, 2


class ServiceCategoryQuerySet(models.QuerySet["ServiceCategory"]):
    def of(self, workspace: Workspace) -> Self:
        """Keep the categories of one workspace. Every query of a view begins here."""
        return self.filter(workspace=workspace)

    def matching(self, fragment: str) -> Self:
        """Keep the rows whose name contains the fragment, in any case and Unicode form."""
        return self.filter(name_key__like=like_pattern(name_key(fragment)))

    def by_name(self) -> Self:
        return self.order_by("name_key", "id")


class ServiceCategory(models.Model):
    """A category of services and products."""

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(
        Workspace, on_delete=models.PROTECT, related_name="service_categories", db_index=False
    )
    name = models.CharField(max_length=LONGEST_NAME)
    name_key = models.CharField(max_length=LONGEST_NAME_KEY, editable=False)
    created_at = models.DateTimeField(default=now, editable=False)

    objects = ServiceCategoryQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "service categories"
        constraints = [
            models.UniqueConstraint(fields=["workspace", "name_key"], name="service_category_name_once_per_workspace"),
            models.CheckConstraint(condition=~Q(name=""), name="service_category_has_a_name"),
        ]

    def __str__(self) -> str:
        return self.name


class StaffQuerySet(models.QuerySet["Staff"]):
    def of(self, workspace: Workspace) -> Self:
        """Keep the staff of one workspace who are not deleted. Every query of a view begins here."""
        return self.filter(workspace=workspace, deleted_at=None)

    def matching(self, fragment: str) -> Self:
        """Keep the staff whose name contains the fragment, in any case and Unicode form."""
        return self.filter(name_key__like=like_pattern(name_key(fragment)))

    def by_name(self) -> Self:
        return self.order_by("name_key", "id")


class Staff(models.Model):
    """A person who takes appointments and hosts classes, not a user.

    The row of a deleted one stays, because past appointments and classes refer to it.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="staff", db_index=False)
    name = models.CharField(max_length=LONGEST_NAME)
    name_key = models.CharField(max_length=LONGEST_NAME_KEY, editable=False)
    email = models.CharField(max_length=254, null=True, blank=True)
    created_at = models.DateTimeField(default=now, editable=False)
    deleted_at = models.DateTimeField(null=True, blank=True, editable=False)

    objects = StaffQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "staff"
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "name_key"], condition=Q(deleted_at=None), name="staff_name_once_per_workspace"
            ),
            models.CheckConstraint(condition=~Q(name=""), name="staff_has_a_name"),
        ]

    def __str__(self) -> str:
        return self.name


class ServiceQuerySet(models.QuerySet["Service"]):
    def of(self, workspace: Workspace) -> Self:
        """Keep the services of one workspace that are not deleted. Every query of a view begins here."""
        return self.filter(workspace=workspace, deleted_at=None)

    def matching(self, fragment: str) -> Self:
        """Keep the rows whose name contains the fragment, in any case and Unicode form."""
        return self.filter(name_key__like=like_pattern(name_key(fragment)))

    def by_name(self) -> Self:
        return self.order_by("name_key", "id")


class Service(models.Model):
    """A service that customers book: a single appointment, or a seat in a class.

    These fields concern appointments only. `buffer_before` and `buffer_after` are minutes that its staff member stays
    free around an appointment. A time can be booked from `notice_minutes` from now until the end of the day that is
    `horizon_days` away. Appointments begin every `step_minutes` from the beginning of the working hours. `deposit` is
    what a visitor of the booking page pays in advance. `bookable` services are offered on the booking page. `staff` are
    the people who provide it.

    The row of a deleted service stays, because past appointments and classes refer to it.
    """

    class Kind(models.TextChoices):
        APPOINTMENT = "appointment", _("Appointment")
        CLASS = "class", _("Group class")

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="services", db_index=False)
    name = models.CharField(max_length=LONGEST_NAME)
    name_key = models.CharField(max_length=LONGEST_NAME_KEY, editable=False)
    kind = models.CharField(max_length=20, choices=Kind)
    category = models.ForeignKey(
        ServiceCategory, null=True, blank=True, on_delete=models.PROTECT, related_name="services"
    )
    duration_minutes = models.PositiveIntegerField(null=True, blank=True)
    price = models.DecimalField(max_digits=PRICE_DIGITS, decimal_places=PRICE_DECIMALS, null=True, blank=True)
    buffer_before = models.PositiveIntegerField(default=0, db_default=0)
    buffer_after = models.PositiveIntegerField(default=0, db_default=0)
    notice_minutes = models.PositiveIntegerField(default=0, db_default=0)
    horizon_days = models.PositiveIntegerField(default=60, db_default=60)
    step_minutes = models.PositiveIntegerField(default=15, db_default=15)
    deposit = models.DecimalField(max_digits=PRICE_DIGITS, decimal_places=PRICE_DECIMALS, null=True, blank=True)
    bookable = models.BooleanField(default=True, db_default=True)
    staff = models.ManyToManyField(Staff, through="ServiceStaff", related_name="services")
    created_at = models.DateTimeField(default=now, editable=False)
    updated_at = models.DateTimeField(default=now, editable=False)
    deleted_at = models.DateTimeField(null=True, blank=True, editable=False)

    objects = ServiceQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "name_key"], condition=Q(deleted_at=None), name="service_name_once_per_workspace"
            ),
            models.CheckConstraint(condition=~Q(name=""), name="service_has_a_name"),
            models.CheckConstraint(condition=Q(kind__in=["appointment", "class"]), name="service_kind_is_known"),
            models.CheckConstraint(condition=Q(price=None) | Q(price__gte=0), name="service_price_is_not_negative"),
            models.CheckConstraint(
                condition=Q(duration_minutes=None) | Q(duration_minutes__range=(1, LONGEST_DURATION)),
                name="service_duration_is_up_to_a_day",
            ),
            models.CheckConstraint(
                condition=Q(deleted_at=None) | Q(category=None), name="service_deleted_has_no_category"
            ),
            models.CheckConstraint(
                condition=Q(buffer_before__lte=LONGEST_BUFFER, buffer_after__lte=LONGEST_BUFFER),
                name="service_buffers_are_up_to_half_a_day",
            ),
            models.CheckConstraint(
                condition=Q(notice_minutes__lte=LONGEST_NOTICE), name="service_notice_is_up_to_90_days"
            ),
            models.CheckConstraint(
                condition=Q(horizon_days__range=(1, LONGEST_HORIZON)), name="service_horizon_is_up_to_a_year"
            ),
            models.CheckConstraint(
                condition=Q(step_minutes__range=(SHORTEST_STEP, LONGEST_STEP)), name="service_step_is_sensible"
            ),
            models.CheckConstraint(condition=Q(deposit=None) | Q(deposit__gt=0), name="service_deposit_is_positive"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def category_uuid(self) -> UUID | None:
        return self.category.uuid if self.category else None

    @property
    def staff_uuids(self) -> list[UUID]:
        """The ids of the people who provide it. In lists, prefetch `staff`."""
        return [one.uuid for one in sorted(self.staff.all(), key=lambda one: one.pk)]


class ServiceStaff(models.Model):
    """A staff member who provides a service."""

    service = models.ForeignKey(Service, on_delete=models.CASCADE, related_name="provided_by", db_index=False)
    staff = models.ForeignKey(Staff, on_delete=models.CASCADE, related_name="provided_services")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["service", "staff"], name="service_staff_once")]

    def __str__(self) -> str:
        return f"{self.staff} provides {self.service}"


LONGEST_DESCRIPTION = 2_000
MOST_STOCK = 1_000_000_000


class ProductQuerySet(models.QuerySet["Product"]):
    def of(self, workspace: Workspace) -> Self:
        """Keep the products of one workspace that are not deleted. Every query of a view begins here."""
        return self.filter(workspace=workspace, deleted_at=None)

    def matching(self, fragment: str) -> Self:
        """Keep the products whose name contains the fragment, in any case and Unicode form."""
        return self.filter(name_key__like=like_pattern(name_key(fragment)))

    def newest_first(self) -> Self:
        return self.order_by("-created_at", "-id")


class Product(models.Model):
    """A product. `stock_level` is the sum of its stock movements; triggers keep anything else from writing it.

    The row of a deleted product stays, because its movements refer to it.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="products", db_index=False)
    name = models.CharField(max_length=LONGEST_NAME)
    name_key = models.CharField(max_length=LONGEST_NAME_KEY, editable=False)
    description = models.CharField(max_length=LONGEST_DESCRIPTION, blank=True)
    price = models.DecimalField(max_digits=PRICE_DIGITS, decimal_places=PRICE_DECIMALS)
    track_stock = models.BooleanField(default=False)
    stock_level = models.IntegerField(default=0, editable=False)
    active = models.BooleanField(default=True)
    category = models.ForeignKey(
        ServiceCategory, null=True, blank=True, on_delete=models.PROTECT, related_name="products", db_index=False
    )
    created_at = models.DateTimeField(default=now, editable=False)
    updated_at = models.DateTimeField(default=now, editable=False)
    deleted_at = models.DateTimeField(null=True, blank=True, editable=False)

    objects = ProductQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~Q(name=""), name="product_has_a_name"),
            models.CheckConstraint(condition=Q(price__gte=0), name="product_price_is_not_negative"),
            models.CheckConstraint(
                condition=Q(stock_level__range=(0, MOST_STOCK)), name="product_stock_is_not_negative"
            ),
            models.CheckConstraint(
                condition=Q(track_stock=True) | Q(stock_level=0), name="product_untracked_has_no_stock"
            ),
            models.CheckConstraint(
                condition=Q(deleted_at=None) | Q(category=None), name="product_deleted_has_no_category"
            ),
        ]
        indexes = [
            models.Index(fields=["workspace", "name_key", "id"], condition=Q(deleted_at=None), name="product_by_name"),
            models.Index(
                fields=["workspace", "-created_at", "-id"], condition=Q(deleted_at=None), name="product_newest"
            ),
            models.Index(
                fields=["category", "-created_at", "-id"],
                condition=Q(category__isnull=False),
                name="product_of_category",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def category_uuid(self) -> UUID | None:
        return self.category.uuid if self.category else None

    @property
    def stock_quantity(self) -> int | None:
        """The stock level if the stock is tracked, else None."""
        return self.stock_level if self.track_stock else None

    @property
    def is_out_of_stock(self) -> bool:
        return self.track_stock and self.stock_level == 0


LONGEST_ACTOR = 254


class StockMovement(models.Model):
    """A change of a product's stock level. A trigger requires that `before` is the level, and sets it to `after`."""

    class Reason(models.TextChoices):
        SET = "set", _("Level set")
        RECEIVED = "received", _("Goods received")
        SOLD = "sold", _("Sold")
        RETURNED = "returned", _("Returned by a customer")
        LOST = "lost", _("Lost or damaged")
        CORRECTED = "corrected", _("Counted anew")
        TRACKING_ENDED = "tracking_ended", _("No longer tracked")

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    product = models.ForeignKey(Product, on_delete=models.PROTECT, related_name="stock_movements", db_index=False)
    before = models.IntegerField()
    change = models.IntegerField()
    after = models.IntegerField()
    reason = models.CharField(max_length=20, choices=Reason)
    actor_kind = models.CharField(max_length=20)
    actor_label = models.CharField(max_length=LONGEST_ACTOR)
    created_at = models.DateTimeField(default=now, editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(after=F("before") + F("change")), name="stock_movement_adds_up"),
            models.CheckConstraint(condition=~Q(change=0), name="stock_movement_changes_something"),
            models.CheckConstraint(condition=Q(before__gte=0, after__gte=0), name="stock_movement_is_not_below_zero"),
        ]
        indexes = [models.Index(fields=["product", "-id"], name="stock_movement_newest")]

    def __str__(self) -> str:
        return f"{self.change:+d} of {self.product}"
