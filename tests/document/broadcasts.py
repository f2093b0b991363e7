"""How the statuses of broadcasts' operations are brought about."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from broadcasts.models import Broadcast
from tests.broadcasts.making import a_template, bring_to, create
from tests.document.calls import Call, Provocation
from tests.factories import SegmentFactory, plan_limits
from workspaces.subaccounts.models import Channel, Workspace

BASE = "api/v1/broadcasts"
ONE = f"{BASE}/<id:broadcast>"


def an_unknown_channel(call: Call) -> int:
    return call.send({**call.body, "channel": str(uuid4())})


def an_unknown_contact(call: Call) -> int:
    return call.send({"contacts": [str(uuid4())]})


def an_ended_broadcast(call: Call) -> int:
    bring_to({"id": call.ids["broadcast"]}, "cancelled")
    return call.send()


def a_broken_channel(call: Call) -> int:
    Channel.objects.filter(pk=call.tenant.channel.pk).update(status=Channel.Status.ERROR)
    a_template(call.tenant.channel, status="paused")
    message: dict[str, Any] = {"template": "summer_sale", "language": "en_US", "components": [], "header": None}
    Broadcast.objects.filter(uuid=call.ids["broadcast"]).update(message=message)
    return call.send()


def a_full_plan(call: Call) -> int:
    bring_to({"id": call.ids["broadcast"]}, "Draft")
    Workspace.objects.filter(pk=call.tenant.workspace.pk).update(limits=plan_limits(broadcasts_per_month=0))
    return call.send()


def a_broadcast_that_is_no_draft(call: Call) -> int:
    shown = create(call.tenant, schedule=True)
    return call.send(path=f"/{BASE}/{shown['id']}")


def a_chosen_segment(call: Call) -> int:
    segment = SegmentFactory.create(workspace=call.tenant.workspace)
    create(call.tenant, audience={"type": "segment", "segment": str(segment.uuid)})
    return call.send(path=f"/api/v1/segments/{segment.uuid}")


OF_THEIR_OWN: dict[str, tuple[Provocation, ...]] = {
    f"POST {BASE}": (an_unknown_channel,),
    f"POST {BASE}/preview": (an_unknown_channel,),
    f"POST {ONE}/preview": (a_broken_channel,),
    f"PATCH {ONE}": (an_ended_broadcast,),
    f"DELETE {ONE}": (a_broadcast_that_is_no_draft,),
    f"POST {ONE}/schedule": (a_full_plan, an_ended_broadcast),
    **{f"POST {ONE}/{move}": (an_ended_broadcast,) for move in ("approve", "pause", "resume", "cancel")},
    f"POST {ONE}/test": (an_unknown_contact,),
    "DELETE api/v1/segments/<id:segment>": (a_chosen_segment,),
}
