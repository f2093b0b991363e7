"""The requirements that a customer may have to meet before an automation can be switched on, in display order."""

from django.utils.translation import gettext_noop as _

REQUIREMENTS: dict[str, str] = {
    "service": _("a service or product to sell"),
    "availability": _("working hours"),
    "booking_page": _("a booking page"),
    "payment": _("a payment method connected"),
    "contact": _("at least one contact"),
    "template": _("an approved messaging template"),
}


def in_order(names: set[str]) -> list[str]:
    """Give requirements in their documented order."""
    return [name for name in REQUIREMENTS if name in names]
