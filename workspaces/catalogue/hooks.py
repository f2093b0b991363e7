"""This app's registrations: events for a workspace's webhooks, menu entries, labels and fields of the activity log."""

from typing import Final

from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from agency.event_types import event_types
from agency.pages.help import DASHBOARD, Guide, guides
from agency.pages.registry import ActivityAction, MenuEntry, Section, activity_actions, dashboard_menu
from agency.services.activity import RecordedAction, RecordedField, ValueFormat, recorded_actions
from workspaces.catalogue import events
from workspaces.catalogue.models import Service
from workspaces.catalogue.serializers import ProductSerializer, ServiceSerializer, StaffSerializer
from workspaces.subaccounts.events import workspace_event_type

NAME = RecordedField("name", _("Name"))
CATEGORY = RecordedField("category_id", _("Category"), hidden=True)
PRICE = RecordedField("price", _("Price"), ValueFormat.NUMBER)

FIELDS: Final[dict[str, tuple[RecordedField, ...]]] = {
    "product.changed": (
        NAME,
        RecordedField("description", _("Description")),
        PRICE,
        RecordedField("track_stock", _("Track the stock"), ValueFormat.SWITCH),
        RecordedField("stock_quantity", _("Stock"), ValueFormat.NUMBER),
        RecordedField("active", _("Active"), ValueFormat.SWITCH),
        CATEGORY,
    ),
    "service.changed": (
        NAME,
        RecordedField("kind", _("Kind"), choices=Service.Kind.choices),
        CATEGORY,
        RecordedField("duration_minutes", _("Duration in minutes"), ValueFormat.NUMBER),
        PRICE,
        RecordedField("buffer_before", _("Minutes free before"), ValueFormat.NUMBER),
        RecordedField("buffer_after", _("Minutes free after"), ValueFormat.NUMBER),
        RecordedField("notice_minutes", _("Notice in minutes"), ValueFormat.NUMBER),
        RecordedField("horizon_days", _("Days ahead"), ValueFormat.NUMBER),
        RecordedField("step_minutes", _("Minutes between starts"), ValueFormat.NUMBER),
        RecordedField("deposit", _("Deposit"), ValueFormat.NUMBER),
        RecordedField("bookable", _("On the booking page"), ValueFormat.SWITCH),
        RecordedField("staff", _("Staff"), hidden=True),
    ),
    "service_category.changed": (NAME,),
    "staff.changed": (RecordedField("name", _("Name"), hidden=True), RecordedField("email", _("E-mail"), hidden=True)),
}


ACTIONS = {
    "product.created": _("Product created"),
    "product.changed": _("Product edited"),
    "product.deleted": _("Product deleted"),
    "service.created": _("Service created"),
    "service.changed": _("Service edited"),
    "service.deleted": _("Service deleted"),
    "service_category.created": _("Service category created"),
    "service_category.changed": _("Service category edited"),
    "service_category.deleted": _("Service category deleted"),
    "staff.created": _("Staff member created"),
    "staff.changed": _("Staff member edited"),
    "staff.deleted": _("Staff member deleted"),
}
PRODUCTS = ("Products", "product", ProductSerializer)
SERVICES = ("Services", "service", ServiceSerializer)
STAFF = ("Staff", "staff", StaffSerializer)

for name, label, (group, resource, serializer), sample in (
    (events.PRODUCT_CREATED, gettext_noop("Product created"), PRODUCTS, {}),
    (events.PRODUCT_UPDATED, gettext_noop("Product changed"), PRODUCTS, {}),
    (events.PRODUCT_DELETED, gettext_noop("Product deleted"), PRODUCTS, {}),
    (events.PRODUCT_OUT_OF_STOCK, gettext_noop("Product out of stock"), PRODUCTS, {"stock_quantity": 0}),
    (events.SERVICE_CREATED, gettext_noop("Service created"), SERVICES, {}),
    (events.SERVICE_UPDATED, gettext_noop("Service changed"), SERVICES, {}),
    (events.SERVICE_DELETED, gettext_noop("Service deleted"), SERVICES, {}),
    (events.STAFF_CREATED, gettext_noop("Staff member created"), STAFF, {}),
    (events.STAFF_UPDATED, gettext_noop("Staff member changed"), STAFF, {}),
    (events.STAFF_DELETED, gettext_noop("Staff member deleted"), STAFF, {}),
):
    event_types.add(
        workspace_event_type(name, label, group=group, resource=resource, serializer=serializer, sample=sample)
    )
dashboard_menu.add(
    MenuEntry(url_name="app:products", label=_("Products"), icon="bag", section=Section.SALES, order=40),
    MenuEntry(url_name="app:services", label=_("Services"), icon="tag", section=Section.SALES, order=42),
    MenuEntry(url_name="app:staff", label=_("Staff"), icon="team", section=Section.SETTINGS, order=50),
)
recorded_actions.add(*RecordedAction.from_fields(FIELDS))
activity_actions.add(*ActivityAction.from_labels(ACTIONS, _("Catalogue")))
guides.add(
    Guide(
        area=DASHBOARD,
        slug="products",
        title=_("Products and stock"),
        summary=_("List your products, and keep count of your stock."),
        picture=_("The form of a product, with its name, price and category, and whether its stock is tracked."),
        order=80,
        pages=("products",),
        related=("invoices", "automations"),
    ),
    Guide(
        area=DASHBOARD,
        slug="services",
        title=_("Services and appointments"),
        summary=_("Say what can be booked, with whom and when."),
        picture=_("The form of a service, with its kind, duration and price, and who provides it."),
        order=90,
        pages=("services", "calendar", "staff"),
        related=("booking-page", "classes"),
    ),
)
