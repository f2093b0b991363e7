"""Steps that sell, book and get paid."""

from django.utils.translation import gettext_noop as _

from workspaces.automations.flows.fields import AgencyAccount, Choice, Number, Own, Text
from workspaces.automations.flows.types import StepType

TEXT = Text(name="text", label=_("Text"))
CALENDAR = Own(name="calendar", label=_("Calendar"), of="calendar", required=False)
SERVICE = Own(name="service", label=_("Service"), of="service", required=False)

STEPS = (
    StepType(
        name="book_appointment",
        label=_("Book an appointment"),
        fields=(TEXT, SERVICE, CALENDAR, Own(name="agent", label=_("Person"), of="agent", required=False)),
        ports=("booked", "not_booked"),
        requires=("service", "availability"),
        waits=True,
    ),
    StepType(
        name="booking_link",
        label=_("Send the booking page"),
        fields=(TEXT, SERVICE),
        requires=("booking_page",),
    ),
    StepType(
        name="change_appointment",
        label=_("Change the appointment"),
        fields=(Choice(name="change", label=_("Change"), options=("confirm", "reschedule", "cancel")),),
        ports=("done", "not_done"),
        requires=("availability",),
        waits=True,
    ),
    StepType(
        name="payment_link",
        label=_("Send a payment link"),
        fields=(
            TEXT,
            Choice(name="pays", label=_("What is paid"), options=("order", "appointment", "deposit", "amount")),
            Number(name="amount", label=_("Amount"), most=99_999, decimals=True, required=False),
            Own(name="product", label=_("Product"), of="product", required=False),
            AgencyAccount(name="account", label=_("Payment account")),
        ),
        ports=("paid", "not_paid"),
        requires=("payment",),
        waits=True,
    ),
    StepType(
        name="order_status",
        label=_("Tell the order's status"),
        fields=(TEXT,),
        ports=("found", "not_found"),
        requires=("service",),
    ),
    StepType(
        name="give_discount",
        label=_("Give a discount"),
        fields=(
            Text(name="text", label=_("Text")),
            Number(name="percent", label=_("Per cent"), least=1, most=100),
            Number(name="valid_days", label=_("Days it is valid"), least=1, most=365),
            Own(name="coupon", label=_("Coupon"), of="coupon", required=False),
        ),
        requires=("service",),
    ),
    StepType(name="ask_review", label=_("Ask for a review"), fields=(TEXT,)),
)
