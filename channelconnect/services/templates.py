"""Message templates: synced from the provider, listed for a workspace, and offered to people at the inbox."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final
from uuid import UUID

from django.db import connection, transaction
from django.db.models import OuterRef, QuerySet, Subquery

from channelconnect.models import ChannelCredential, MessageTemplate, TemplateSync
from channelconnect.providers.graph import ProviderFault
from channelconnect.providers.notices.events import TemplateChanged
from channelconnect.providers.parsing import rows, text
from channelconnect.providers.templates import ListedTemplate, WantedParameter, list_templates
from config.db import TimeOrExpression
from config.errors import InvalidInput
from config.tries.counting import run_counted
from workspaces.conversations.services.content import TemplateChoice, TemplateParameter
from workspaces.conversations.services.conversations import ChannelNotActive
from workspaces.subaccounts.models import Channel, Workspace
from workspaces.subaccounts.services import record_workspace_event

MOST_SHOWN: Final = 200
# Kinds of parameters that a person can type. A template with a file in its header is sent over the API.
TYPED: Final = ("text", "url", "copy_code")
LONGEST_TEXT: Final = 2_000


def choices_of_channel(channel: Channel) -> list[TemplateChoice]:
    """Return a channel's approved templates whose parameters are all typed, by name."""
    containers = Channel.objects.filter(pk=channel.pk).values("credential__container_id")
    approved = MessageTemplate.objects.filter(container_id__in=containers, status=MessageTemplate.Status.APPROVED)
    return [_choice(template) for template in approved.order_by("name", "language")[:MOST_SHOWN] if _is_typed(template)]


def _is_typed(template: MessageTemplate) -> bool:
    return all(one["type"] in TYPED and not one["component"].startswith("carousel") for one in template.parameters)


def _choice(template: MessageTemplate) -> TemplateChoice:
    return TemplateChoice(
        id=str(template.uuid),
        name=template.name,
        language=template.language,
        preview="\n".join(_texts(template)),
        parameters=tuple(TemplateParameter(_label(one), one["example"] or "") for one in template.parameters),
        filled=lambda values: _filled(template, values),
    )


def _texts(template: MessageTemplate) -> list[str]:
    return [written for one in rows(template.components) if (written := text(one.get("text"), LONGEST_TEXT))]


def _label(parameter: Mapping[str, Any]) -> str:
    name = parameter["name"] or ("" if parameter["index"] is None else f"{{{{{parameter['index']}}}}}")
    if parameter["component"] == "button":
        return f"Button {parameter['index'] + 1}"
    return f"{parameter['component'].capitalize()} {name}".strip()


def _filled(template: MessageTemplate, values: Sequence[str]) -> dict[str, object]:
    """Return the template in the provider's form, with the values in the order of the parameters."""
    components: list[dict[str, object]] = []
    texts: dict[str, dict[str, Any]] = {}
    for parameter, value in zip(template.parameters, values, strict=True):
        if parameter["component"] == "button":
            components.append(_button(parameter, value))
            continue
        place = texts.setdefault(parameter["component"], {"type": parameter["component"], "parameters": []})
        named = {"parameter_name": parameter["name"]} if parameter["name"] else {}
        place["parameters"].append({"type": "text", **named, "text": value})
    return {"name": template.name, "language": template.language, "components": [*texts.values(), *components]}


def _button(parameter: WantedParameter, value: str) -> dict[str, object]:
    is_code = parameter["type"] == "copy_code"
    filled = {"type": "coupon_code", "coupon_code": value} if is_code else {"type": "text", "text": value}
    return {"type": "button", "sub_type": parameter["type"], "index": str(parameter["index"]), "parameters": [filled]}


def shown_templates(workspace: Workspace, *, channel: UUID | None = None) -> "QuerySet[MessageTemplate]":
    """Return the workspace's templates, each with the given channel or the oldest that can send it.

    Numbers of a business account share their templates.
    """
    channels = Channel.objects.filter(
        workspace=workspace, platform="whatsapp", credential__container_id=OuterRef("container_id")
    ).exclude(status=Channel.Status.DISCONNECTED)
    if channel is not None:
        channels = channels.filter(uuid=channel)
    own = Subquery(channels.order_by("pk").values("uuid")[:1])
    return MessageTemplate.objects.annotate(channel_uuid=own).of(workspace).filter(channel_uuid__isnull=False)


logger = logging.getLogger(__name__)

EVERY: Final = timedelta(hours=1)
AFTER_A_FAULT: Final = timedelta(minutes=10)
AFTER_GIVING_UP: Final = timedelta(days=2)
KIND: Final = "template list"
BATCH: Final = 500
FIELDS: Final = ("provider_id", "category", "status", "provider_status", "parameter_format", "components", "parameters")
APPROVED, REJECTED, PAUSED = "template.approved", "template.rejected", "template.paused"
TOPICS: Final = {
    MessageTemplate.Status.APPROVED: APPROVED,
    MessageTemplate.Status.REJECTED: REJECTED,
    MessageTemplate.Status.PAUSED: PAUSED,
}
# Business accounts that were never listed.
LEARN = """
INSERT INTO channelconnect_templatesync (container_id, due_at, fault)
SELECT DISTINCT credential.container_id, %s::timestamptz, ''
FROM channelconnect_channelcredential credential JOIN subaccounts_channel channel ON channel.id = credential.channel_id
WHERE channel.platform = 'whatsapp' AND channel.status = 'active' AND NOT EXISTS (
    SELECT FROM channelconnect_templatesync known WHERE known.container_id = credential.container_id)
LIMIT %s ON CONFLICT DO NOTHING
"""


class OnlyOnWhatsApp(InvalidInput):
    message = "Only WhatsApp channels have templates."
    field = "channel"


def request_sync(*, channel: Channel, now: datetime) -> TemplateSync:
    """Have a channel's templates listed within seconds. Raises `OnlyOnWhatsApp` and `ChannelNotActive`."""
    credential = ChannelCredential.objects.filter(channel=channel).first()
    if channel.platform != "whatsapp":
        raise OnlyOnWhatsApp
    if credential is None or channel.status != Channel.Status.ACTIVE:
        raise ChannelNotActive
    sync_soon([credential.container_id], now=now)
    return TemplateSync.objects.get(pk=credential.container_id)


def sync_soon(container_ids: Iterable[str], *, now: datetime) -> None:
    """Have these business accounts' templates listed within seconds; accounts that are not ours are ignored."""
    known = ChannelCredential.objects.filter(container_id__in=set(container_ids), channel__platform="whatsapp")
    found = sorted(set(known.values_list("container_id", flat=True)))
    rows = [TemplateSync(container_id=one, due_at=now) for one in found]
    TemplateSync.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=["container_id"], update_fields=["due_at"]
    )


def sync_when_new(container_id: str, *, now: datetime) -> None:
    """Have a business account's templates listed within seconds if they were never listed."""
    TemplateSync.objects.bulk_create([TemplateSync(container_id=container_id, due_at=now)], ignore_conflicts=True)


def sync_changed(facts: Sequence[TemplateChanged], *, now: datetime) -> None:
    """List the templates again of business accounts for which the provider reports changes."""
    sync_soon([fact.container_id for fact in facts], now=now)


def sync_next(*, now: datetime) -> bool:
    """List the templates of the business account that has been due for longest. False if none is due."""
    with connection.cursor() as cursor:
        cursor.execute(LEARN, [now, BATCH])
    due = due_syncs(now).first()
    if due is None:
        return False
    # The due time is set first, so that a request for another listing meanwhile is not lost.
    TemplateSync.objects.filter(pk=due.pk).update(due_at=now + EVERY)
    run_counted(partial(_sync_due, due, now), kind=KIND, key=due.pk, give_up=partial(_give_up, due, now))
    return True


def due_syncs(now: TimeOrExpression) -> "QuerySet[TemplateSync]":
    """Return the business accounts whose templates are due to be listed, in their order."""
    return TemplateSync.objects.filter(due_at__lte=now).order_by("due_at")


def _sync_due(due: TemplateSync, now: datetime) -> None:
    fault = _sync(due, now)
    changes = {"fault": fault, "due_at": now + AFTER_A_FAULT} if fault else {"fault": "", "synced_at": now}
    TemplateSync.objects.filter(pk=due.pk).update(**changes)


def _give_up(due: TemplateSync, now: datetime) -> None:
    """Put off a business account whose templates killed their process too often. A sync by hand tries it again."""
    TemplateSync.objects.filter(pk=due.pk).update(fault="broke_off", due_at=now + AFTER_GIVING_UP)


def _sync(due: TemplateSync, now: datetime) -> str:
    """List and store the templates. Returns the code of a fault, or an empty text."""
    credential = (
        ChannelCredential.objects.filter(
            container_id=due.container_id, channel__platform="whatsapp", channel__status=Channel.Status.ACTIVE
        )
        .order_by("-changed_at")
        .first()
    )
    if credential is None or credential.token is None:
        return ""
    try:
        listed = list_templates(container_id=due.container_id, token=credential.token)
    except ProviderFault as fault:
        logger.warning("templates could not be listed", extra={"container": due.container_id, "code": fault.code})
        return fault.code
    keep_templates(container_id=due.container_id, listed=listed, is_first=due.synced_at is None, now=now)
    return ""


@transaction.atomic
def keep_templates(*, container_id: str, listed: Sequence[ListedTemplate], is_first: bool, now: datetime) -> None:
    """Store listed templates, delete those no longer listed, and record events for changed statuses.

    An account's first listing records no changes.
    """
    rows = MessageTemplate.objects.select_for_update().filter(container_id=container_id)
    before = {(row.name, row.language): row for row in rows.order_by("pk")}
    found = {(one.name, one.language): one for one in listed}
    gone = [row.pk for key, row in before.items() if key not in found]
    MessageTemplate.objects.filter(pk__in=gone).delete()
    new = [
        _written(MessageTemplate(container_id=container_id), one, now)
        for key, one in found.items()
        if key not in before
    ]
    MessageTemplate.objects.bulk_create(new, batch_size=BATCH)
    statuses = {row.pk: row.status for row in before.values()}
    changed = [
        _written(before[key], one, now) for key, one in found.items() if key in before and _differs(before[key], one)
    ]
    MessageTemplate.objects.bulk_update(changed, [*FIELDS, "updated_at"], batch_size=BATCH)
    moved = {row.pk: row.status for row in changed if row.status != statuses[row.pk]}
    if not is_first:
        moved |= {row.pk: row.status for row in new}
    _record(container_id, moved, now)


def _differs(row: MessageTemplate, listed: ListedTemplate) -> bool:
    return any(getattr(row, name) != getattr(listed, name) for name in FIELDS)


def _written(row: MessageTemplate, listed: ListedTemplate, now: datetime) -> MessageTemplate:
    row.name, row.language = listed.name, listed.language
    for name in FIELDS:
        setattr(row, name, getattr(listed, name))
    row.updated_at = now
    return row


def _record(container_id: str, moved: Mapping[int, str], now: datetime) -> None:
    told = {pk: TOPICS[MessageTemplate.Status(status)] for pk, status in moved.items() if status in TOPICS}
    if not told:
        return
    users = Workspace.objects.filter(channels__credential__container_id=container_id).distinct()
    for workspace in users.select_related("agency").order_by("pk"):
        for template in shown_templates(workspace).filter(pk__in=told).order_by("pk"):
            record_workspace_event(workspace=workspace, name=told[template.pk], now=now, template=template)
