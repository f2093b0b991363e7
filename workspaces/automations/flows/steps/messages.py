"""Steps that send something."""

from workspaces.automations.flows.fields import Choice, Many, Number, Own, Text
from workspaces.automations.flows.types import StepType

TAPPABLE = ("whatsapp", "facebook", "instagram", "telegram", "livechat")
LISTS = ("whatsapp", "telegram", "livechat")
MEDIA = ("whatsapp", "facebook", "instagram", "sms", "tiktok", "telegram", "livechat")
LABEL = Text(name="title", label="Button text", most=20)

STEPS = (
    StepType(name="send_text", label="Send a text", fields=(Text(name="text", label="Text", most=4_096),)),
    StepType(
        name="send_media",
        label="Send a file",
        fields=(
            Own(name="media", label="File", of="media"),
            Text(name="caption", label="Caption", required=False),
        ),
        channels=MEDIA,
    ),
    StepType(
        name="send_buttons",
        label="Send buttons",
        fields=(
            Text(name="text", label="Text"),
            Many(name="buttons", label="Buttons", of=(LABEL,), most=3),
            Text(name="footer", label="Small print", most=60, required=False),
        ),
        ports=("other",),
        port_per=("button", "buttons"),
        channels=TAPPABLE,
        waits=True,
    ),
    StepType(
        name="send_link_button",
        label="Send a link button",
        fields=(Text(name="text", label="Text"), LABEL, Own(name="url", label="Web address", of="url")),
        channels=TAPPABLE,
    ),
    StepType(
        name="send_call_button",
        label="Send a call button",
        fields=(Text(name="text", label="Text"), LABEL, Own(name="phone", label="Phone number", of="phone")),
        channels=("whatsapp", "facebook"),
    ),
    StepType(
        name="send_list",
        label="Send a list",
        fields=(
            Text(name="text", label="Text"),
            Text(name="button", label="Text of the list's button", most=20),
            Many(
                name="rows",
                label="Rows",
                most=10,
                of=(
                    Text(name="title", label="Row", most=24),
                    Text(name="description", label="Row description", most=72, required=False),
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
        label="Send a template",
        fields=(
            Choice(
                name="purpose",
                label="Purpose",
                options=("reminder", "confirmation", "follow_up", "review", "offer", "update", "payment"),
            ),
            Own(name="template", label="Template", of="template", required=False),
            Many(
                name="parameters",
                label="Template texts",
                of=(Text(name="", label="Template text"),),
                required=False,
            ),
        ),
        channels=("whatsapp",),
        requires=("template",),
    ),
    StepType(
        name="send_product",
        label="Show a product",
        fields=(
            Choice(name="which", label="Which product", options=("chosen", "bestseller", "newest", "last_viewed")),
            Own(name="product", label="Product", of="product", required=False),
            Text(name="text", label="Text", required=False),
        ),
        channels=("whatsapp", "facebook", "instagram", "telegram", "livechat", "tiktok"),
        requires=("service",),
    ),
    StepType(
        name="send_catalogue",
        label="Show the catalogue",
        fields=(
            Text(name="text", label="Text"),
            Number(name="items", label="How many products", least=1, most=10),
            Own(name="category", label="Category", of="category", required=False),
        ),
        channels=("whatsapp", "facebook", "instagram", "telegram", "livechat"),
        requires=("service",),
    ),
    StepType(
        name="send_location",
        label="Send a place",
        fields=(
            Own(name="location", label="Place", of="location", required=False),
            Text(name="text", label="Text", required=False),
        ),
        channels=("whatsapp", "facebook", "telegram", "livechat", "sms"),
    ),
    StepType(
        name="reply_to_comment",
        label="Reply to the comment in public",
        fields=(Text(name="text", label="Reply"),),
        channels=("facebook", "instagram", "tiktok"),
    ),
    StepType(
        name="reply_to_review",
        label="Reply to the review",
        fields=(Text(name="text", label="Reply", most=4_000),),
        channels=("gbp",),
    ),
)
