"""The fields of the catalogue whose values the activity log keeps, and how it shows them."""

from typing import Final

from django.utils.translation import gettext_lazy as _

from agency.services.activity import RecordedField, ValueFormat
from workspaces.catalogue.models import Service

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
    ),
    "service_category.changed": (NAME,),
}
