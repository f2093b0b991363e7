"""What starts a flow."""

from workspaces.automations.flows.fields import Choice, Flag, Many, Number, Own, Text
from workspaces.automations.flows.types import TriggerType

CHATS = ("whatsapp", "facebook", "instagram", "sms", "tiktok", "telegram", "livechat")
COMMENTS = ("facebook", "instagram", "tiktok")
OUTGOING = ("whatsapp", "facebook", "instagram", "sms", "telegram", "livechat")
WORDS = Many(name="keywords", label="Keywords", of=(Text(name="", label="Keyword", most=60),), most=30)
MATCH = Choice(name="match", label="How it matches", options=("contains", "exact", "starts_with"), required=False)
POST = Own(name="post", label="Post", of="post", required=False)
HOURS = Number(name="hours", label="Hours", least=1, most=720)

TYPES = (
    TriggerType(name="any_message", label="Any message", channels=CHATS, catch_all=True),
    TriggerType(name="any_comment", label="Any comment", fields=(POST,), channels=COMMENTS, catch_all=True),
    TriggerType(name="keyword", label="A message with a keyword", fields=(WORDS, MATCH), channels=CHATS),
    TriggerType(
        name="comment_keyword", label="A comment with a keyword", fields=(WORDS, MATCH, POST), channels=COMMENTS
    ),
    TriggerType(
        name="first_message",
        label="A contact's first message",
        fields=(Flag(name="outside_hours_only", label="Only outside working hours", required=False),),
        channels=CHATS,
    ),
    TriggerType(name="story_reply", label="A reply to a story", channels=("facebook", "instagram")),
    TriggerType(name="story_mention", label="A mention in a story", channels=("instagram",)),
    TriggerType(name="new_follower", label="A new follower", channels=("tiktok", "instagram")),
    TriggerType(
        name="ad_click",
        label="A chat started from an ad",
        fields=(Own(name="ad", label="Ad", of="ad", required=False),),
        channels=("whatsapp", "facebook", "instagram", "tiktok"),
    ),
    TriggerType(name="chat_opened", label="A visitor opens the chat", channels=("livechat",)),
    TriggerType(name="missed_call", label="A missed call", channels=("sms", "whatsapp")),
    TriggerType(
        name="review_received",
        label="A new review",
        fields=(Choice(name="stars", label="Stars", options=("any", "high", "low")),),
        channels=("gbp",),
    ),
    TriggerType(name="question_received", label="A question on the business profile", channels=("gbp",)),
    TriggerType(
        name="tag_added", label="A tag is added", fields=(Text(name="tag", label="Tag", most=60),), channels=OUTGOING
    ),
    TriggerType(name="appointment_booked", label="An appointment is booked", requires=("service",), channels=OUTGOING),
    TriggerType(
        name="appointment_near",
        label="An appointment is near",
        fields=(HOURS,),
        requires=("service",),
        channels=OUTGOING,
    ),
    TriggerType(name="appointment_done", label="An appointment is over", requires=("service",), channels=OUTGOING),
    TriggerType(name="appointment_missed", label="An appointment was missed", requires=("service",), channels=OUTGOING),
    TriggerType(name="order_placed", label="An order is placed", requires=("service",), channels=OUTGOING),
    TriggerType(name="order_shipped", label="An order is on its way", requires=("service",), channels=OUTGOING),
    TriggerType(
        name="cart_abandoned", label="A cart is left behind", fields=(HOURS,), requires=("service",), channels=OUTGOING
    ),
    TriggerType(name="payment_received", label="A payment arrives", requires=("payment",), channels=OUTGOING),
    TriggerType(
        name="contact_inactive",
        label="A contact has been quiet",
        fields=(Number(name="days", label="Days", least=1, most=730),),
        requires=("contact",),
        channels=OUTGOING,
    ),
    TriggerType(name="birthday", label="A contact's birthday", requires=("contact",), channels=OUTGOING),
    TriggerType(
        name="form_sent",
        label="A form is sent",
        fields=(Own(name="form", label="Form", of="form", required=False),),
        channels=OUTGOING,
    ),
    TriggerType(
        name="outside_call",
        label="A call from another program",
        fields=(Own(name="token", label="Token", of="secret", required=False),),
        channels=OUTGOING,
        barred="starts when another program calls it",
    ),
)
