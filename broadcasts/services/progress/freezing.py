"""Fixes a broadcast's message when sending begins, with the values that are the same for all recipients."""

from collections.abc import Iterable

from agency.services.domains.hosts import base_urls_of
from broadcasts.content import FrozenMessage, variables_in
from broadcasts.models import Broadcast
from broadcasts.services.editing.fields.messages import write_message
from broadcasts.services.editing.fields.variables import check_variables, with_settings
from broadcasts.services.tracking.links import with_tracked_links
from channelconnect.services.templates import find_template

OF_RECIPIENTS = ("contact", "fields")


def freeze_message(broadcast: Broadcast) -> FrozenMessage:
    """Return the message as it is sent from now on.

    Raises `BroadcastRefused` if it can no longer be sent: its template is no longer approved, for example, or a setting
    of the workspace that it names has no value.
    """
    message = broadcast.message
    for part in ("text", "components", "header"):
        check_variables(f"message.{part}", message.get(part), broadcast.workspace)
    written = write_message(message, broadcast.channel)
    text, template = (
        with_settings(written.text, broadcast.workspace),
        with_settings(written.template, broadcast.workspace),
    )
    links: list[str] = []
    if message.get("track_clicks", True):
        ours = base_urls_of(broadcast.workspace.agency_id)
        text, template, links = with_tracked_links(
            text, template, approved=_approved_components(broadcast), base_urls=ours
        )
    return FrozenMessage(text, template, _variables(variables_in((text, template or {}, links))), links)


def _variables(found: Iterable[str]) -> list[str]:
    """Return the contacts' variables, each once; those of links are left out."""
    return [name for name in dict.fromkeys(found) if name.partition(".")[0] in OF_RECIPIENTS]


def _approved_components(broadcast: Broadcast) -> list[object]:
    name, language = broadcast.message.get("template"), broadcast.message.get("language")
    if not name:
        return []
    template = find_template(broadcast.channel, name, str(language).replace("-", "_"))
    return list(template.components) if template else []
