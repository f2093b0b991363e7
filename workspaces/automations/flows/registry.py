"""The types of triggers, which start a flow, and the registry of all triggers and steps by their names."""

from django.utils.translation import gettext_noop as _

from workspaces.automations.flows.fields import Boolean, Choice, CustomerValue, ListOf, Number, Text
from workspaces.automations.flows.message_steps import MESSAGE_STEPS, QUESTION_STEPS
from workspaces.automations.flows.steps import (
    AI_STEPS,
    BUSINESS_STEPS,
    CONTACT_STEPS,
    INTEGRATION_STEPS,
    LOGIC_STEPS,
    TEAM_STEPS,
)
from workspaces.automations.flows.types import NO_ORDERS, NO_REVIEWS, StepType, TriggerType

CHATS = ("whatsapp", "facebook", "instagram", "sms", "tiktok", "telegram", "livechat")
COMMENTS = ("facebook", "instagram", "tiktok")
OUTGOING = ("whatsapp", "facebook", "instagram", "sms", "telegram", "livechat")
KEYWORDS = ListOf(name="keywords", label=_("Keywords"), of=(Text(name="", label=_("Keyword"), most=60),), most=30)
MATCH = Choice(name="match", label=_("How it matches"), options=("contains", "exact", "starts_with"), required=False)
TYPOS = Boolean(name="typos", label=_("Also match small typing mistakes"), required=False)
POST = CustomerValue(name="post", label=_("Post"), of="post", required=False)
HOURS = Number(name="hours", label=_("Hours"), least=1, most=720)

TRIGGER_TYPES = (
    TriggerType(name="any_message", label=_("Any message"), channels=CHATS, catch_all=True),
    TriggerType(name="any_comment", label=_("Any comment"), fields=(POST,), channels=COMMENTS, catch_all=True),
    TriggerType(name="keyword", label=_("A message with a keyword"), fields=(KEYWORDS, MATCH, TYPOS), channels=CHATS),
    TriggerType(
        name="comment_keyword",
        label=_("A comment with a keyword"),
        fields=(KEYWORDS, MATCH, TYPOS, POST),
        channels=COMMENTS,
    ),
    TriggerType(
        name="first_message",
        label=_("A contact's first message"),
        fields=(Boolean(name="outside_hours_only", label=_("Only outside working hours"), required=False),),
        channels=CHATS,
    ),
    TriggerType(name="story_reply", label=_("A reply to a story"), channels=("facebook", "instagram")),
    TriggerType(name="story_mention", label=_("A mention in a story"), channels=("instagram",)),
    TriggerType(
        name="new_follower",
        label=_("A new follower"),
        channels=("tiktok", "instagram"),
        unavailable=_("New followers are not reported yet"),
    ),
    TriggerType(
        name="ad_click",
        label=_("A chat started from an ad"),
        fields=(CustomerValue(name="ad", label=_("Ad"), of="ad", required=False),),
        channels=("whatsapp", "facebook", "instagram", "tiktok"),
    ),
    TriggerType(
        name="chat_opened",
        label=_("A visitor opens the chat"),
        channels=("livechat",),
        unavailable=_("The chat for websites is not available yet"),
    ),
    TriggerType(
        name="missed_call",
        label=_("A missed call"),
        channels=("sms", "whatsapp"),
        unavailable=_("Calls are not available yet"),
    ),
    TriggerType(
        name="review_received",
        label=_("A new review"),
        fields=(Choice(name="stars", label=_("Stars"), options=("any", "high", "low")),),
        channels=("gbp",),
        unavailable=NO_REVIEWS,
    ),
    TriggerType(
        name="question_received",
        label=_("A question on the business profile"),
        channels=("gbp",),
        unavailable=NO_REVIEWS,
    ),
    TriggerType(
        name="tag_added",
        label=_("A tag is added"),
        fields=(Text(name="tag", label=_("Tag"), most=60),),
        channels=OUTGOING,
    ),
    TriggerType(
        name="appointment_booked", label=_("An appointment is booked"), requires=("service",), channels=OUTGOING
    ),
    TriggerType(
        name="appointment_near",
        label=_("An appointment is near"),
        fields=(HOURS,),
        requires=("service",),
        channels=OUTGOING,
    ),
    TriggerType(name="appointment_done", label=_("An appointment is over"), requires=("service",), channels=OUTGOING),
    TriggerType(
        name="appointment_missed", label=_("An appointment was missed"), requires=("service",), channels=OUTGOING
    ),
    TriggerType(
        name="appointment_rescheduled", label=_("An appointment is moved"), requires=("service",), channels=OUTGOING
    ),
    TriggerType(
        name="appointment_cancelled", label=_("An appointment is cancelled"), requires=("service",), channels=OUTGOING
    ),
    TriggerType(
        name="order_placed",
        label=_("An order is placed"),
        requires=("service",),
        channels=OUTGOING,
        unavailable=NO_ORDERS,
    ),
    TriggerType(
        name="order_shipped",
        label=_("An order is on its way"),
        requires=("service",),
        channels=OUTGOING,
        unavailable=NO_ORDERS,
    ),
    TriggerType(
        name="cart_abandoned",
        label=_("A cart is left behind"),
        fields=(HOURS,),
        requires=("service",),
        channels=OUTGOING,
        unavailable=NO_ORDERS,
    ),
    TriggerType(name="payment_received", label=_("A payment arrives"), requires=("payment",), channels=OUTGOING),
    TriggerType(
        name="contact_inactive",
        label=_("A contact has been quiet"),
        fields=(Number(name="days", label=_("Days"), least=1, most=730),),
        requires=("contact",),
        channels=OUTGOING,
    ),
    TriggerType(name="birthday", label=_("A contact's birthday"), requires=("contact",), channels=OUTGOING),
    TriggerType(
        name="form_sent",
        label=_("A form is sent"),
        fields=(CustomerValue(name="form", label=_("Form"), of="form", required=False),),
        channels=OUTGOING,
        unavailable=_("Forms are not available yet"),
    ),
    TriggerType(
        name="outside_call",
        label=_("A call from another program"),
        fields=(CustomerValue(name="token", label=_("Token"), of="secret", required=False),),
        channels=OUTGOING,
        barred="starts when another program calls it",
        unavailable=_("Calls from other programs are not available yet"),
    ),
)


STEPS: dict[str, StepType] = {
    step.name: step
    for steps in (
        MESSAGE_STEPS,
        QUESTION_STEPS,
        LOGIC_STEPS,
        CONTACT_STEPS,
        TEAM_STEPS,
        BUSINESS_STEPS,
        AI_STEPS,
        INTEGRATION_STEPS,
    )
    for step in steps
}
TRIGGERS: dict[str, TriggerType] = {trigger.name: trigger for trigger in TRIGGER_TYPES}
