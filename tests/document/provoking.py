"""How each declared status of an operation is brought about, on the route table's own cases."""

from collections.abc import Hashable, Iterator
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import OperationalError
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import Switch
from agency.services import choose_default_plan
from config.api.surface import SurfaceView
from tests.document import broadcasts, catalogue, conversations, finance
from tests.document.calls import Call, Provocation
from tests.factories import AddonFactory, ContactFactory, PlanFactory, a_file, a_workspace_key
from tests.route_walk import declared, own_checks, surface_of
from tests.routes import AGENCY, WRITES, address, suspend
from tests.tenants import Multipart, a_new_customer
from tests.workspaces.media.files import PDF, picture
from workspaces.automations.models import Automation
from workspaces.subaccounts.models import Channel

MOST_BYTES = 1024 * 1024
ENTRIES = ("missed-visit", "time-for-a-touch-up")


def a_new_addon(call: Call) -> int:
    return call.send({"addon": str(AddonFactory.create(agency=call.tenant.agency).uuid)})


def an_unknown_plan(call: Call) -> int:
    return call.send(a_new_customer(plan=str(uuid4())))


def a_key_used_again(call: Call) -> int:
    return [call.send(idempotency_key="again") for _ in range(2)][1]


def a_disabled_endpoint(call: Call) -> int:
    own = call.ids["own_webhook"]
    uuid, api = (call.tenant.endpoint.uuid, call.tenant.api) if call.route.startswith(AGENCY) else (own, call.api)
    api.patch(f"/webhooks/{uuid}", {"enabled": False})
    return call.send()


def an_unreadable_time(call: Call) -> int:
    return call.send(path=f"{call.path}?created_after=yesterday")


def one_endpoint_gone(call: Call) -> int:
    made = call.api.call(call.method, call.path, call.body, idempotency_key="gone").json()["data"]
    call.api.delete(f"/webhooks/{made.get('uuid') or made['id']}")
    return call.send(idempotency_key="gone")


def one_pack_too_many(call: Call) -> int:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("packs.services.packs.MOST_PACKS", 1)
        return call.send()


def a_key_rolled_already(call: Call) -> int:
    key, _ = a_workspace_key(call.tenant.workspace)
    path = address(call.route, {**call.ids, "key": key.uuid})
    until = {"old_valid_until": (now() + timedelta(hours=1)).isoformat()}
    return [call.send(until, path=path) for _ in range(2)][1]


def another_entry_under_the_same_key(call: Call) -> int:
    return [call.send({"template_id": f"salons-{name}"}, idempotency_key="one") for name in ENTRIES][1]


def an_unknown_source(call: Call) -> int:
    return call.send(path=f"/{call.route}?workspace={uuid4()}&automation={uuid4()}")


def no_parameters(call: Call) -> int:
    return call.send(path=f"/{call.route}")


def two_offers_with_one_key(call: Call) -> int:
    return [call.send({"name": name, "limits": {}}, idempotency_key="offer") for name in ("One", "Two")][1]


def a_malformed_date(call: Call) -> int:
    return call.send(path=f"/{call.route}?created_after=yesterday")


def the_default_plan(call: Call) -> int:
    plan = PlanFactory.create(agency=call.tenant.agency)
    choose_default_plan(agency=call.tenant.agency, plan=plan, by=SYSTEM)
    return call.send(path=address(call.route, {"plan": plan.uuid}))


def what_is_no_file_of_ours(call: Call) -> Iterator[int]:
    """A picture that is too large, and a file by another name."""
    yield call.send(Multipart.of(picture() + bytes(16 * MOST_BYTES)))
    yield call.send(Multipart.of(PDF, field="other"))


def a_file_in_use(call: Call) -> int:
    media = a_file(call.tenant.workspace)
    Automation.objects.filter(pk=call.tenant.automation.pk).update(draft={"media": str(media.uuid)})
    return call.send(path=address(call.route, {"media": media.uuid}))


def two_merges_with_one_key(call: Call) -> int:
    others = [ContactFactory.create(workspace=call.tenant.workspace) for _ in range(2)]
    return [call.send({"contact": str(other.uuid)}, idempotency_key="merged") for other in others][1]


def an_unknown_channel(call: Call) -> int:
    return call.send({"channel": str(uuid4())})


def a_disconnected_channel(call: Call) -> int:
    Channel.objects.filter(uuid=call.body["channel"]).update(status=Channel.Status.DISCONNECTED)
    return call.send()


def an_automation_that_lacks_something(call: Call) -> int:
    Automation.objects.filter(pk=call.tenant.automation.pk).update(enabled=False, requires=["payment"])
    return call.send()


def an_unreadable_start(call: Call) -> int:
    return call.send(path=f"{call.path}?started_after=yesterday")


def a_move_that_was_made(call: Call) -> int:
    return [call.send() for _ in range(2)][1]


# What only these operations answer; everything else follows from what an operation is.
OF_THEIR_OWN: dict[str, tuple[Provocation, ...]] = {
    "POST plans": (two_offers_with_one_key,),
    "POST addons": (two_offers_with_one_key,),
    "DELETE plans/<id:plan>": (the_default_plan,),
    "GET workspaces": (a_malformed_date,),
    "POST workspaces": (an_unknown_plan,),
    "POST workspaces/<id:workspace>/addons": (a_new_addon,),
    "POST workspaces/<id:workspace>/channel-connections": (a_key_used_again,),
    "POST workspaces/<id:workspace>/api-keys/<id:key>/roll": (a_key_rolled_already,),
    "POST webhooks": (one_endpoint_gone,),
    "GET webhooks/deliveries": (an_unreadable_time,),
    "GET webhooks/<id:webhook>/deliveries": (an_unreadable_time,),
    "POST webhooks/<id:webhook>/test": (a_disabled_endpoint,),
    "POST webhooks/<id:webhook>/replay": (a_disabled_endpoint,),
    "POST webhooks/deliveries/<id:delivery>/redeliver": (a_disabled_endpoint,),
    "POST packs": (one_pack_too_many,),
    "POST packs/<id:pack>/entries": (another_entry_under_the_same_key,),
    "POST api/v1/webhooks": (one_endpoint_gone,),
    "GET api/v1/webhooks/deliveries": (an_unreadable_time,),
    "GET api/v1/webhooks/<id:webhook>/deliveries": (an_unreadable_time,),
    "POST api/v1/webhooks/<id:webhook>/test": (a_disabled_endpoint,),
    "POST api/v1/webhooks/<id:webhook>/replay": (a_disabled_endpoint,),
    "POST api/v1/webhooks/deliveries/<id:delivery>/redeliver": (a_disabled_endpoint,),
    "POST api/v1/segments": (catalogue.two_names_with_one_key,),
    "POST api/v1/contacts/<id:contact>/merge": (two_merges_with_one_key,),
    "POST api/v1/templates/sync": (an_unknown_channel, a_disconnected_channel),
    "POST api/v1/automations/<id:automation>/enable": (an_automation_that_lacks_something,),
    "GET api/v1/automations/<id:automation>/runs": (an_unreadable_start,),
    "POST api/v1/automations/<id:automation>/runs/<id:run>/stop": (a_move_that_was_made,),
    "POST api/v1/automations/<id:automation>/runs/<id:run>/retry": (a_move_that_was_made,),
    "POST api/v1/media": (what_is_no_file_of_ours,),
    "DELETE api/v1/media/<id:media>": (a_file_in_use,),
    "GET packs/import/preview": (an_unknown_source, no_parameters),
    **broadcasts.OF_THEIR_OWN,
    **catalogue.OF_THEIR_OWN,
    **finance.OF_THEIR_OWN,
    **conversations.OF_THEIR_OWN,
}


def by_the_body(call: Call) -> Iterator[int]:
    """What every write refuses before its own code runs."""
    yield call.send(b"{")
    yield call.api.call(call.method, call.path, transfer_encoding="chunked").status_code
    yield call.send(b'"' + b"x" * MOST_BYTES + b'"')
    yield call.api.call(call.method, call.path, b"{}", content_type="text/plain").status_code


def by_the_fields(call: Call) -> Iterator[int]:
    if call.method in WRITES and call.fields:
        yield call.send(b"{" + b",".join(b'"%s":1e999' % name.encode() for name in call.fields) + b"}")


def by_the_query(call: Call) -> Iterator[int]:
    if call.takes("query"):
        yield call.send(path=f"{call.path}{'&' if '?' in call.path else '?'}{'x=1&' * 1001}")


def by_the_key(call: Call) -> Iterator[int]:
    """What an operation that is done once for each `Idempotency-Key` refuses."""
    if call.takes("header", "Idempotency-Key"):
        other = Multipart.of(b"other") if call.case.is_upload else {**call.body, "unknown": "makes it another request"}
        for body in (call.body, other):
            yield call.send(body, idempotency_key="the-same")


def by_a_fault(call: Call, fault: type[Exception]) -> int:
    def fail(*_: Any) -> None:
        raise fault

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SurfaceView, "check_method", fail)
        return call.send()


def by_the_surface(call: Call, settings: Any) -> Iterator[int]:
    """What the surface refuses before the operation is reached; the last ones leave it closed."""
    yield by_a_fault(call, ZeroDivisionError)
    yield by_a_fault(call, OperationalError)
    yield call.send(api=call.api.with_key(None))
    limits = {"AGENCY_KEY_LIMIT": settings.AGENCY_KEY_LIMIT, "ADDRESS_LIMIT": settings.ADDRESS_LIMIT}
    for name in limits:
        setattr(settings, name, 0)
    yield call.send()
    for name, limit in limits.items():
        setattr(settings, name, limit)
    suspend(call.route, call.tenant)
    yield call.send()
    if call.route.startswith(AGENCY):
        Switch.objects.create(name=Switch.Name.AGENCY_API, enabled=False)
        yield call.send()


def own_statuses(call: Call) -> Iterator[int]:
    """Give every status that the operation's own code can be brought to answer.

    tests/test_routes.py calls each operation so that it goes well, and with an unknown id at every place of an id.
    """
    yield call.case.own
    if "<id:" in call.route:
        yield 404
    yield from by_the_fields(call)
    for provoke in OF_THEIR_OWN.get(call.name, ()):
        provoked = provoke(call)
        yield from (provoked,) if isinstance(provoked, int) else provoked


def shared_refusals(call: Call, settings: Any) -> Iterator[int]:
    """Give every status with which the base of its surface refuses the operation, and all others of its kind."""
    yield from by_the_query(call)
    if call.method in WRITES:
        yield from by_the_body(call)
    yield from (status for status in by_the_key(call) if status >= 400)
    yield from by_the_surface(call, settings)


def kind_of(call: Call) -> Hashable:
    """Give all that decides what the base of its surface answers for an operation."""
    declaration = declared(call.route, call.method)
    return (
        surface_of(call.route),
        own_checks(call.route),
        call.method in WRITES,
        call.takes("query"),
        declaration.takes_empty_body,
        declaration.upload,
        declaration.idempotent if declaration.idempotent in {True, False} else type(declaration.idempotent),
    )
