"""Steps that send messages and replies."""

from django.utils.translation import gettext_noop as _

from workspaces.automations.flows.fields import Choice, Many, Number, Own, Text
from workspaces.automations.flows.types import StepType

TAPPABLE = ("whatsapp", "facebook", "instagram", "telegram", "livechat")
LISTS = ("whatsapp", "telegram", "livechat")
MEDIA = ("whatsapp", "facebook", "instagram", "sms", "tiktok", "telegram", "livechat")
LABEL = Text(name="title", label=_("Button text"), most=20)

STEPS = (
    StepType(name="send_text", label=_("Send a text"), fields=(Text(name="text", label=_("Text"), most=4_096),)),
    StepType(
        name="send_media",
        label=_("Send a file"),
        fields=(
            Own(name="media", label=_("File"), of="media"),
            Text(name="caption", label=_("Caption"), required=False),
        ),
        channels=MEDIA,
    ),
    StepType(
        name="send_buttons",
        label=_("Send buttons"),
        fields=(
            Text(name="text", label=_("Text")),
            Many(name="buttons", label=_("Buttons"), of=(LABEL,), most=3),
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
        fields=(Text(name="text", label=_("Text")), LABEL, Own(name="url", label=_("Web address"), of="url")),
        channels=TAPPABLE,
    ),
    StepType(
        name="send_call_button",
        label=_("Send a call button"),
        fields=(Text(name="text", label=_("Text")), LABEL, Own(name="phone", label=_("Phone number"), of="phone")),
        channels=("whatsapp", "facebook"),
    ),
    StepType(
        name="send_list",
        label=_("Send a list"),
        fields=(
            Text(name="text", label=_("Text")),
            Text(name="button", label=_("Text of the list's button"), most=20),
            Many(
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
            Own(name="template", label=_("Template"), of="template", required=False),
            Many(
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
            Own(name="product", label=_("Product"), of="product", required=False),
            Text(name="text", label=_("Text"), required=False),
        ),
        channels=("whatsapp", "facebook", "instagram", "telegram", "livechat", "tiktok"),
        requires=("service",),
    ),
    StepType(
        name="send_catalogue",
        label=_("Show the catalogue"),
        fields=(
            Text(name="text", label=_("Text")),
            Number(name="items", label=_("How many products"), least=1, most=10),
            Own(name="category", label=_("Category"), of="category", required=False),
        ),
        channels=("whatsapp", "facebook", "instagram", "telegram", "livechat"),
        requires=("service",),
    ),
    StepType(
        name="send_location",
        label=_("Send a place"),
        fields=(
            Own(name="location", label=_("Place"), of="location", required=False),
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
    ),
)
