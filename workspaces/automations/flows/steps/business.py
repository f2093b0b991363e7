"""Steps that sell, book and get paid."""

from workspaces.automations.flows.fields import AgencyAccount, Choice, Number, Own, Text
from workspaces.automations.flows.types import StepType

TEXT = Text(name="text", label="Text")
CALENDAR = Own(name="calendar", label="Calendar", of="calendar", required=False)
SERVICE = Own(name="service", label="Service", of="service", required=False)

STEPS = (
    StepType(
        name="book_appointment",
        label="Book an appointment",
        fields=(TEXT, SERVICE, CALENDAR, Own(name="agent", label="Person", of="agent", required=False)),
        ports=("booked", "not_booked"),
        requires=("service", "availability"),
        waits=True,
    ),
    StepType(
        name="booking_link",
        label="Send the booking page",
        fields=(TEXT, SERVICE),
        requires=("booking_page",),
    ),
    StepType(
        name="change_appointment",
        label="Change the appointment",
        fields=(Choice(name="change", label="Change", options=("confirm", "reschedule", "cancel")),),
        ports=("done", "not_done"),
        requires=("availability",),
        waits=True,
    ),
    StepType(
        name="payment_link",
        label="Send a payment link",
        fields=(
            TEXT,
            Choice(name="pays", label="What is paid", options=("order", "appointment", "deposit", "amount")),
            Number(name="amount", label="Amount", most=99_999, decimals=True, required=False),
            Own(name="product", label="Product", of="product", required=False),
            AgencyAccount(name="account", label="Payment account"),
        ),
        ports=("paid", "not_paid"),
        requires=("payment",),
        waits=True,
    ),
    StepType(
        name="order_status",
        label="Tell the order's status",
        fields=(TEXT,),
        ports=("found", "not_found"),
        requires=("service",),
    ),
    StepType(
        name="give_discount",
        label="Give a discount",
        fields=(
            Text(name="text", label="Text"),
            Number(name="percent", label="Per cent", least=1, most=100),
            Number(name="valid_days", label="Days it is valid", least=1, most=365),
            Own(name="coupon", label="Coupon", of="coupon", required=False),
        ),
        requires=("service",),
    ),
    StepType(name="ask_review", label="Ask for a review", fields=(TEXT,)),
)
