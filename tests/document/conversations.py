"""How the statuses of conversations' operations are brought about."""

from __future__ import annotations

from uuid import uuid4

from tests.document.calls import Call, Provocation

BASE = "api/v1/"


def another_holder(call: Call) -> int:
    owner = call.tenant.workspace.owner.email
    return call.send({"assigned_to": None, "if_assigned_to": owner})


def an_unknown_contact(call: Call) -> int:
    return call.send({**call.body, "contact": str(uuid4())})


OF_THEIR_OWN: dict[str, tuple[Provocation, ...]] = {
    f"PATCH {BASE}conversations/<id:conversation>": (another_holder,),
    f"POST {BASE}messages": (an_unknown_contact,),
}
