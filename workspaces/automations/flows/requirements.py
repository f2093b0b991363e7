"""What a customer must have before an automation can be switched on, in the order people read it."""

REQUIREMENTS: dict[str, str] = {
    "service": "a service or product to sell",
    "availability": "working hours",
    "booking_page": "a booking page",
    "payment": "a payment method connected",
    "contact": "at least one contact",
    "template": "an approved messaging template",
}


def in_order(names: set[str]) -> list[str]:
    """Give requirements in their documented order."""
    return [name for name in REQUIREMENTS if name in names]
