"""Steps that send messages and replies, and steps that ask questions and store the answers."""

from django.utils.translation import gettext_noop as _

from workspaces.automations.flows.fields import Boolean, Choice, CustomerValue, ListOf, Name, Number, Text
from workspaces.automations.flows.types import NO_PRODUCTS, NO_REVIEWS, StepType

TAPPABLE = ("whatsapp", "facebook", "instagram", "telegram", "livechat")
LISTS = ("whatsapp", "telegram", "livechat")
MEDIA = ("whatsapp", "facebook", "instagram", "sms", "tiktok", "telegram", "livechat")
LABEL = Text(name="title", label=_("Button text"), most=20)

MESSAGE_STEPS = (
    StepType(name="send_text", label=_("Send a text"), fields=(Text(name="text", label=_("Text"), most=4_096),)),
    StepType(
        name="send_media",
        label=_("Send a file"),
        fields=(
            CustomerValue(name="media", label=_("File"), of="media"),
            Text(name="caption", label=_("Caption"), required=False),
        ),
        channels=MEDIA,
    ),
    StepType(
        name="send_buttons",
        label=_("Send buttons"),
        fields=(
            Text(name="text", label=_("Text")),
            ListOf(name="buttons", label=_("Buttons"), of=(LABEL,), most=3),
            Text(name="footer", label=_("Small print"), most=60, required=False),
        ),
        ports=("other",),
        port_per=("button", "buttons"),
        channels=TAPPABLE,
        waits=True,
    ),
    StepType(
        name="send_link_button",
        label=_("Send a link button"),
        fields=(Text(name="text", label=_("Text")), LABEL, CustomerValue(name="url", label=_("Web address"), of="url")),
        channels=TAPPABLE,
    ),
    StepType(
        name="send_call_button",
        label=_("Send a call button"),
        fields=(
            Text(name="text", label=_("Text")),
            LABEL,
            CustomerValue(name="phone", label=_("Phone number"), of="phone"),
        ),
        channels=("whatsapp", "facebook"),
    ),
    StepType(
        name="send_list",
        label=_("Send a list"),
        fields=(
            Text(name="text", label=_("Text")),
            Text(name="button", label=_("Text of the list's button"), most=20),
            ListOf(
                name="rows",
                label=_("Rows"),
                most=10,
                of=(
                    Text(name="title", label=_("Row"), most=24),
                    Text(name="description", label=_("Row description"), most=72, required=False),
                ),
            ),
        ),
        ports=("other",),
        port_per=("row", "rows"),
        channels=LISTS,
        waits=True,
    ),
    StepType(
        name="send_template",
        label=_("Send a template"),
        fields=(
            Choice(
                name="purpose",
                label=_("Purpose"),
                options=("reminder", "confirmation", "follow_up", "review", "offer", "update", "payment"),
            ),
            CustomerValue(name="template", label=_("Template"), of="template", required=False),
            ListOf(
                name="parameters",
                label=_("Template texts"),
                of=(Text(name="", label=_("Template text")),),
                required=False,
            ),
        ),
        channels=("whatsapp",),
        requires=("template",),
    ),
    StepType(
        name="send_product",
        label=_("Show a product"),
        fields=(
            Choice(name="which", label=_("Which product"), options=("chosen", "bestseller", "newest", "last_viewed")),
            CustomerValue(name="product", label=_("Product"), of="product", required=False),
            Text(name="text", label=_("Text"), required=False),
        ),
        channels=("whatsapp", "facebook", "instagram", "telegram", "livechat", "tiktok"),
        requires=("service",),
        unavailable=NO_PRODUCTS,
    ),
    StepType(
        name="send_catalogue",
        label=_("Show the catalogue"),
        fields=(
            Text(name="text", label=_("Text")),
            Number(name="items", label=_("How many products"), least=1, most=10),
            CustomerValue(name="category", label=_("Category"), of="category", required=False),
        ),
        channels=("whatsapp", "facebook", "instagram", "telegram", "livechat"),
        requires=("service",),
        unavailable=NO_PRODUCTS,
    ),
    StepType(
        name="send_location",
        label=_("Send a place"),
        fields=(
            CustomerValue(name="location", label=_("Place"), of="location", required=False),
            Text(name="text", label=_("Text"), required=False),
        ),
        channels=("whatsapp", "facebook", "telegram", "livechat", "sms"),
    ),
    StepType(
        name="reply_to_comment",
        label=_("Reply to the comment in public"),
        fields=(Text(name="text", label=_("Reply")),),
        channels=("facebook", "instagram", "tiktok"),
    ),
    StepType(
        name="reply_to_review",
        label=_("Reply to the review"),
        fields=(Text(name="text", label=_("Reply"), most=4_000),),
        channels=("gbp",),
        unavailable=NO_REVIEWS,
    ),
)


CHATS = ("whatsapp", "facebook", "instagram", "sms", "tiktok", "telegram", "livechat")
ANSWER_NAME = Name(name="save_as", label=_("Name of the answer"))
ANSWERS = ("text", "number", "email", "phone", "date", "file")
# Without a choice a date is read back if it is unclear.
CONFIRM = Choice(
    name="confirm",
    label=_("Confirm the date that was understood"),
    options=("unclear", "always", "never"),
    required=False,
)
ANSWER_TIMEOUT = Number(name="wait_hours", label=_("Hours to wait for an answer"), least=1, most=168, required=False)

QUESTION_STEPS = (
    StepType(
        name="ask_question",
        label=_("Ask a question"),
        fields=(
            Text(name="text", label=_("Question")),
            Choice(name="expects", label=_("Kind of answer"), options=ANSWERS),
            ANSWER_NAME,
            ANSWER_TIMEOUT,
            CONFIRM,
        ),
        ports=("answered", "no_answer"),
        channels=CHATS,
        waits=True,
    ),
    StepType(
        name="ask_choice",
        label=_("Ask to choose"),
        fields=(
            Text(name="text", label=_("Question")),
            ListOf(name="options", label=_("Options"), of=(LABEL,), most=10),
            ANSWER_NAME,
            ANSWER_TIMEOUT,
        ),
        ports=("other", "no_answer"),
        port_per=("option", "options"),
        channels=CHATS,
        waits=True,
    ),
    StepType(
        name="ask_rating",
        label=_("Ask for a rating"),
        fields=(Text(name="text", label=_("Question")), ANSWER_NAME, ANSWER_TIMEOUT),
        ports=("happy", "unhappy", "no_answer"),
        channels=CHATS,
        waits=True,
    ),
    StepType(
        name="ask_consent",
        label=_("Ask for consent"),
        fields=(
            Text(name="text", label=_("Question")),
            Choice(name="purpose", label=_("What for"), options=("marketing", "reminders", "data_storage")),
            Boolean(name="double_check", label=_("Ask twice"), required=False),
        ),
        ports=("agreed", "declined"),
        channels=CHATS,
        waits=True,
    ),
    StepType(
        name="wait_for_reply",
        label=_("Wait for a reply"),
        fields=(Number(name="hours", label=_("Hours"), least=1, most=168),),
        ports=("replied", "no_reply"),
        channels=CHATS,
        waits=True,
    ),
    StepType(
        name="show_quick_replies",
        label=_("Send quick replies"),
        fields=(Text(name="text", label=_("Text")), ListOf(name="replies", label=_("Replies"), of=(LABEL,), most=10)),
        ports=("other",),
        port_per=("reply", "replies"),
        channels=tuple(kind for kind in TAPPABLE if kind != "whatsapp"),
        waits=True,
    ),
)
