"""The automations that need a file, because their draft or their published flow names it."""

from django.db.models import Exists, OuterRef, TextField
from django.db.models.functions import Cast, Concat

from workspaces.automations.models import Automation
from workspaces.media.models import Media, MediaQuerySet

FLOWS = Concat(Cast("draft", TextField()), Cast("published__flow", TextField()))


def automation_needing(media: Media) -> str | None:
    """Describe an automation whose draft or published flow names the file; None without one."""
    needing = Automation.objects.filter(workspace_id=media.workspace_id).alias(flows=FLOWS)
    name = needing.filter(flows__contains=str(media.uuid)).order_by("pk").values_list("name", flat=True).first()
    return None if name is None else f"the automation \u201c{name}\u201d"


def media_in_automations(media: MediaQuerySet) -> MediaQuerySet:
    """Keep the files that an automation of their workspace names."""
    naming = Automation.objects.filter(workspace=OuterRef("workspace")).alias(flows=FLOWS)
    return media.filter(Exists(naming.filter(flows__contains=Cast(OuterRef("uuid"), TextField()))))
