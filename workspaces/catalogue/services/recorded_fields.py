"""The fields of the catalogue whose values the activity log keeps, and how it shows them."""

from typing import Final

from django.utils.translation import gettext_lazy as _

from agency.services.activity.fields import RecordedField, Shown
from workspaces.catalogue.models import Service

NAME = RecordedField("name", _("Name"))
CATEGORY = RecordedField("category_id", _("Category"), hidden=True)
PRICE = RecordedField("price", _("Price"), Shown.NUMBER)

FIELDS: Final[dict[str, tuple[RecordedField, ...]]] = {
    "product.changed": (
        NAME,
        RecordedField("description", _("Description")),
        PRICE,
        RecordedField("track_stock", _("Track the stock"), Shown.SWITCH),
        RecordedField("stock_quantity", _("Stock"), Shown.NUMBER),
        RecordedField("active", _("Active"), Shown.SWITCH),
        CATEGORY,
    ),
    "service.changed": (
        NAME,
        RecordedField("kind", _("Kind"), choices=Service.Kind.choices),
        CATEGORY,
        RecordedField("duration_minutes", _("Duration in minutes"), Shown.NUMBER),
        PRICE,
    ),
    "service_category.changed": (NAME,),
}
