"""Automations on a workspace's home page: their set-up steps, and warnings about those that cannot run."""

from collections.abc import Iterator

from django.urls import reverse
from django.utils.translation import gettext as _

from agency.pages.registry import Alert
from workspaces.automations.flows.settings import settings_used
from workspaces.automations.models import Automation
from workspaces.automations.services import capabilities_of, reasons_not_ready
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.pages.registry import SetUpStep
from workspaces.subaccounts.services import settings_in_texts

# At most this many automations of a workspace are read, beginning with those that are on and the newest.
MOST_LOOKED_AT = 20
MOST_NAMED = 3


def automation_steps(workspace: Workspace) -> Iterator[SetUpStep]:
    """Give three steps: fill in the business details, set up an automation, switch one on."""
    automations = list(workspace.automations.order_by("-enabled", "-created_at", "-id")[:MOST_LOOKED_AT])
    yield _details_step(workspace, automations)
    on = [one for one in automations if one.enabled]
    filled = on or [one for one in automations if one.published_id is not None]
    first = automations[0] if automations else None
    yield SetUpStep(
        title=_("Set an automation up"),
        text=_("Choose ready-made automations in the gallery and fill in what only you know."),
        url=reverse("app:automation", args=[first.uuid]) if first else reverse("app:gallery"),
        action=_("Set up") if first else _("Gallery"),
        is_done=bool(filled),
    )
    yield SetUpStep(
        title=_("Switch it on"),
        text=_("From then on it answers your customers."),
        url=reverse("app:automation", args=[filled[0].uuid]) if len(filled) == 1 else reverse("app:automations"),
        action=_("Switch on"),
        is_done=bool(on),
    )


def _details_step(workspace: Workspace, automations: list[Automation]) -> SetUpStep:
    values = settings_in_texts(workspace)
    used = {name for one in automations for name in settings_used(one.draft)}
    own = {name: value for name, value in values.items() if name != "name"}
    return SetUpStep(
        title=_("Fill in your business details"),
        text=_("Opening hours, address, links: your automations say them to your customers."),
        url=reverse("app:settings"),
        action=_("Settings"),
        is_done=all(own[name] for name in used) if used else any(own.values()),
    )


def automations_that_wait(workspace: Workspace) -> Iterator[Alert]:
    """Name a few automations that are on but cannot run, because something is missing now."""
    on = list(workspace.automations.filter(enabled=True).order_by("-created_at", "-id")[:MOST_LOOKED_AT])
    if not on:
        return
    capabilities = capabilities_of(workspace)
    waiting = [one for one in on if reasons_not_ready(one, capabilities)]
    for one in waiting[:MOST_NAMED]:
        yield Alert(
            text=_("%(name)s is on, but something is missing.") % {"name": one.name},
            url=reverse("app:automation", args=[one.uuid]),
            action=_("Look at it"),
        )
