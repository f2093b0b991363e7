"""Steps of logic, of the A.I., of sales and bookings, about the contact, to the team, and to other systems."""

from django.utils.translation import gettext_noop as _

from workspaces.automations.flows.fields import (
    AgencyAccount,
    Choice,
    CustomerValue,
    ListOf,
    Name,
    Number,
    Text,
    Variable,
)
from workspaces.automations.flows.message_steps import CHATS
from workspaces.automations.flows.types import NO_ORDERS, StepType

MODEL = AgencyAccount(name="account", label=_("A.I. account"))

AI_STEPS = (
    StepType(
        name="ai_answer",
        label=_("Let the A.I. answer"),
        fields=(
            Text(name="instructions", label=_("Instructions"), most=4_000),
            Choice(name="tone", label=_("Tone"), options=("friendly", "professional", "short")),
            CustomerValue(name="knowledge", label=_("Knowledge base"), of="knowledge", required=False),
            Number(name="turns", label=_("Answers at most"), least=1, most=20, required=False),
            MODEL,
        ),
        ports=("answered", "unsure"),
        ai=True,
        waits=True,
    ),
    StepType(
        name="ai_classify",
        label=_("Let the A.I. sort the message"),
        fields=(
            ListOf(
                name="topics",
                label=_("Topics"),
                of=(
                    Text(name="title", label=_("Topic"), most=60),
                    Text(name="description", label=_("Description of the topic"), most=300, required=False),
                ),
            ),
            MODEL,
        ),
        ports=("other",),
        port_per=("topic", "topics"),
        ai=True,
    ),
    StepType(
        name="ai_extract",
        label=_("Let the A.I. pick out details"),
        fields=(
            ListOf(
                name="details",
                label=_("Details"),
                of=(
                    Name(name="save_as", label=_("Name of the detail")),
                    Text(name="what", label=_("What it is"), most=200),
                ),
            ),
            MODEL,
        ),
        ports=("found", "not_found"),
        channels=CHATS,
        ai=True,
    ),
)


TEXT = Text(name="text", label=_("Text"))
CALENDAR = CustomerValue(name="calendar", label=_("Calendar"), of="calendar", required=False)
SERVICE = CustomerValue(name="service", label=_("Service"), of="service", required=False)

BUSINESS_STEPS = (
    StepType(
        name="book_appointment",
        label=_("Book an appointment"),
        fields=(TEXT, SERVICE, CALENDAR, CustomerValue(name="agent", label=_("Person"), of="agent", required=False)),
        ports=("booked", "not_booked"),
        requires=("service", "availability"),
        waits=True,
    ),
    StepType(
        name="booking_link",
        label=_("Send the booking page"),
        fields=(TEXT, SERVICE),
        requires=("booking_page",),
        settings=("booking_link",),
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
            CustomerValue(name="product", label=_("Product"), of="product", required=False),
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
        unavailable=NO_ORDERS,
    ),
    StepType(
        name="give_discount",
        label=_("Give a discount"),
        fields=(
            Text(name="text", label=_("Text")),
            Number(name="percent", label=_("Per cent"), least=1, most=100),
            Number(name="valid_days", label=_("Days it is valid"), least=1, most=365),
            CustomerValue(name="coupon", label=_("Coupon"), of="coupon", required=False),
        ),
        requires=("service",),
        unavailable=_("Discounts are not available yet"),
    ),
    StepType(name="ask_review", label=_("Ask for a review"), fields=(TEXT,), settings=("review_link",)),
)


TAG = Text(name="tag", label=_("Tag"), most=60)

CONTACT_STEPS = (
    StepType(name="add_tag", label=_("Add a tag"), fields=(TAG,)),
    StepType(name="remove_tag", label=_("Remove a tag"), fields=(TAG,)),
    StepType(
        name="set_field",
        label=_("Set a contact field"),
        fields=(Name(name="field", label=_("Field")), Text(name="value", label=_("Value"), most=500)),
    ),
    StepType(
        name="move_stage",
        label=_("Move to a pipeline stage"),
        fields=(
            CustomerValue(name="pipeline", label=_("Pipeline"), of="pipeline", required=False),
            CustomerValue(name="stage", label=_("Pipeline stage"), of="pipeline_stage"),
        ),
        unavailable=_("Pipelines are not available yet"),
    ),
    StepType(
        name="subscription",
        label=_("Change what the contact receives"),
        fields=(Choice(name="change", label=_("Change"), options=("subscribe", "unsubscribe")),),
    ),
)


LOGIC_STEPS = (
    StepType(
        name="condition",
        label=_("Check a condition"),
        fields=(
            Choice(name="match", label=_("Match"), options=("all", "any")),
            ListOf(
                name="rules",
                label=_("Rules"),
                of=(
                    Variable(name="variable", label=_("What is compared")),
                    Choice(
                        name="operator",
                        label=_("Comparison"),
                        options=("is", "is_not", "contains", "is_set", "is_not_set", "more_than", "less_than"),
                    ),
                    Text(name="value", label=_("Value"), most=200, required=False),
                ),
            ),
        ),
        ports=("yes", "no"),
    ),
    StepType(
        name="has_tag", label=_("Check a tag"), fields=(Text(name="tag", label=_("Tag"), most=60),), ports=("yes", "no")
    ),
    StepType(
        name="split",
        label=_("Split at random"),
        fields=(
            ListOf(
                name="parts",
                label=_("Parts"),
                of=(Number(name="percent", label=_("Per cent"), least=1, most=99),),
                most=5,
            ),
        ),
        ports=(),
        port_per=("part", "parts"),
    ),
    StepType(
        name="wait",
        label=_("Wait"),
        fields=(
            Number(name="amount", label=_("How long"), least=1, most=365),
            Choice(name="unit", label=_("Unit"), options=("minutes", "hours", "days")),
        ),
        waits=True,
    ),
    StepType(
        name="wait_until",
        label=_("Wait for a moment"),
        fields=(
            Choice(
                name="moment",
                label=_("Moment"),
                options=("next_opening", "before_appointment", "after_appointment", "morning", "evening"),
            ),
            Number(name="hours", label=_("Hours before or after"), least=1, most=720, required=False),
        ),
        waits=True,
    ),
    StepType(
        name="working_hours",
        label=_("Check the working hours"),
        fields=(CustomerValue(name="calendar", label=_("Calendar"), of="calendar", required=False),),
        ports=("open", "closed"),
        requires=("availability",),
    ),
)


# Steps that reach out of the flow may not go into a pack.

INTEGRATION_STEPS = (
    StepType(
        name="http_call",
        label=_("Call a web address"),
        fields=(
            Choice(name="method", label=_("Method"), options=("GET", "POST", "PUT", "PATCH", "DELETE")),
            CustomerValue(name="url", label=_("Web address"), of="url"),
            ListOf(
                name="headers",
                label=_("Headers"),
                of=(
                    Text(name="name", label=_("Header"), most=100),
                    CustomerValue(name="value", label=_("Value"), of="secret"),
                ),
                required=False,
            ),
            CustomerValue(name="body", label=_("Body"), of="secret", required=False),
            Name(name="save_as", label=_("Name of the answer"), required=False),
        ),
        ports=("success", "failure"),
        barred="calls a web address of its own",
    ),
    StepType(
        name="custom_code",
        label=_("Run code"),
        fields=(CustomerValue(name="code", label=_("Code"), of="secret"),),
        ports=("success", "failure"),
        barred="runs code of its own",
        unavailable=_("Running code is not available yet"),
    ),
    StepType(
        name="start_automation",
        label=_("Jump to another automation"),
        fields=(CustomerValue(name="automation", label=_("Automation"), of="automation"),),
        ports=("next",),
        barred="jumps to another automation, which would stay behind",
    ),
    StepType(
        name="connected_app",
        label=_("Use a connected app"),
        fields=(
            CustomerValue(name="connection", label=_("Connected app"), of="connection"),
            CustomerValue(name="action", label=_("Action"), of="secret"),
            AgencyAccount(name="account", label=_("App account")),
        ),
        ports=("success", "failure"),
        barred="uses an app that is connected to this one workspace",
        unavailable=_("Connected apps are not available yet"),
    ),
)


MEMBER = CustomerValue(name="agent", label=_("Person"), of="member", required=False)
TEAM = CustomerValue(name="team", label=_("Team"), of="team", required=False)

TEAM_STEPS = (
    StepType(name="assign", label=_("Assign the conversation"), fields=(MEMBER, TEAM)),
    StepType(
        name="hand_over",
        label=_("Hand over to a person"),
        fields=(Text(name="text", label=_("Text"), required=False), TEAM),
    ),
    StepType(
        name="notify_team",
        label=_("Notify the team"),
        fields=(
            Text(name="text", label=_("Text")),
            Choice(name="by", label=_("How"), options=("app", "email", "sms"), required=False),
            ListOf(
                name="recipients",
                label=_("Recipients"),
                of=(CustomerValue(name="email", label=_("E-mail address"), of="email"),),
                required=False,
            ),
            AgencyAccount(name="sender", label=_("Sender account")),
        ),
    ),
    StepType(
        name="create_task",
        label=_("Create a task"),
        fields=(
            Text(name="title", label=_("Title"), most=200),
            Number(name="due_hours", label=_("Due in hours"), least=1, most=720, required=False),
            MEMBER,
        ),
    ),
    StepType(name="add_note", label=_("Add a note"), fields=(Text(name="text", label=_("Note"), most=2_000),)),
    StepType(name="close_conversation", label=_("Close the conversation"), ports=()),
)
