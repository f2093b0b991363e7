"""Which automation needs a file: one whose flow, as it is edited or as it runs, names it."""

from django.db.models import TextField
from django.db.models.functions import Cast, Concat

from workspaces.automations.models import Automation
from workspaces.media.models import Media


def automation_needing(media: Media) -> str | None:
    """Name an automation whose draft or published flow names the file; None where there is none."""
    flows = Concat(Cast("draft", TextField()), Cast("published__flow", TextField()))
    needing = Automation.objects.filter(workspace_id=media.workspace_id).alias(flows=flows)
    name = needing.filter(flows__contains=str(media.uuid)).order_by("pk").values_list("name", flat=True).first()
    return None if name is None else f"the automation \u201c{name}\u201d"
