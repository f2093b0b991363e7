"""What the database itself refuses, and packs under many hands at once."""

import uuid
from threading import Event
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from agency.actors import SYSTEM
from config.db import name_key
from packs.library import library
from packs.models import Pack, PackEntry
from packs.services import create_pack
from packs.services.entries import entry_of_item
from tests import furnished
from tests.factories import WorkspaceFactory, an_agency_key
from tests.factories.flows import a_catch_all
from tests.packs.client import PackClient, an_automation
from tests.packs.small_library import ASSISTANT, BOOKING, WELCOME, extra
from tests.parallel import at_once
from tests.tenants import Tenant
from tests.waiting import PATIENCE_SECONDS, wait_for_lock
from workspaces.automations.services import Origin, install_automation

a, b = furnished.a_with_customer, furnished.b_with_customer


def an_entry(pack: Pack, item: str, position: int, **values: Any) -> PackEntry:
    entry = entry_of_item(library().items[item])
    entry.pack, entry.position, entry.name_key = pack, position, name_key(entry.name)
    for name, value in values.items():
        setattr(entry, name, value)
    return entry


@pytest.fixture
def pack(a: Tenant) -> Pack:
    return create_pack(agency=a.agency, name="Starter", by=SYSTEM)


@pytest.mark.parametrize(
    ("constraint", "item", "position", "values"),
    [
        ("pack_holds_nine_entries", extra(1), 10, {}),
        ("pack_holds_nine_entries", extra(1), 0, {}),
        ("pack_holds_one_catch_all", ASSISTANT, 2, {}),
        ("pack_entry_library_item_once", WELCOME, 2, {"name_key": "else", "catch_all": False}),
        ("pack_entry_name_once", extra(1), 2, {"name_key": "welcome everybody"}),
        ("pack_entry_source_is_whole", extra(1), 2, {"template_id": None}),
        ("pack_entry_source_is_whole", extra(1), 2, {"source": "custom"}),
        ("pack_entry_tier_is_known", extra(1), 2, {"tier": "extra"}),
    ],
)
def test_rules_of_entries_are_constraints(
    pack: Pack, constraint: str, item: str, position: int, values: dict[str, Any]
) -> None:
    an_entry(pack, WELCOME, 1).save()
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        an_entry(pack, item, position, **values).save()


def test_two_entries_cannot_end_in_one_position(pack: Pack) -> None:
    an_entry(pack, extra(1), 1).save()
    an_entry(pack, extra(2), 1).save()
    with pytest.raises(IntegrityError, match="pack_entry_position_once"):
        connection.check_constraints()


def test_two_packs_cannot_end_in_one_position(a: Tenant, pack: Pack) -> None:
    Pack.objects.create(agency=a.agency, name="Other", position=pack.position)
    with pytest.raises(IntegrityError, match="pack_position_once_per_agency"):
        connection.check_constraints()


def test_get_packs_with_200_packs_of_nine_entries_costs_at_most_6_queries(a: Tenant) -> None:
    packs = Pack.objects.bulk_create(
        Pack(agency=a.agency, name=f"Pack {number}", position=number) for number in range(1, 201)
    )
    PackEntry.objects.bulk_create(an_entry(pack, extra(number), number) for pack in packs for number in range(1, 10))
    with CaptureQueriesContext(connection) as queries:
        answer = a.api.get("/packs")
    assert [len(pack["entries"]) for pack in answer.json()["data"]] == [9] * 200
    assert len(queries) <= 6


def test_installed_in_counts_workspaces_not_automations(a: Tenant, b: Tenant, packs: PackClient) -> None:
    held, other = packs.new("Held"), packs.new("Other")
    for workspace in (a.workspace, WorkspaceFactory.create(agency=a.agency)):
        for _ in range(2):
            origin = Origin(pack=uuid.UUID(held), entry=uuid.uuid4())
            flow = library().items[BOOKING].flow
            with transaction.atomic():
                install_automation(
                    workspace=workspace, origin=origin, name="x", platform="whatsapp", flow=flow, slots=[],
                    requires=[], now=now(), by=SYSTEM,
                )  # fmt: skip
    assert [pack["installed_in"] for pack in packs.all()] == [2, 0]
    assert packs.read(held)["installed_in"] == 2
    assert packs.read(other)["installed_in"] == 0


@pytest.mark.django_db(transaction=True)
class TestAtOnce:
    """T38: exactly so many win, the others hear the refusal, nobody a server error."""

    def test_thirty_parallel_adds_leave_nine(self, settings: Any) -> None:
        settings.AGENCY_KEY_LIMIT = 1_000
        a = Tenant()
        pack = PackClient(a).new()
        items = [extra(number) for number in range(1, 13)]
        answers = at_once(
            lambda number: a.api.post(f"/packs/{pack}/entries", {"template_id": items[number % 12]}), times=30
        )
        statuses = [answer.status_code for answer in answers]
        assert (statuses.count(201), statuses.count(422)) == (9, 21)
        entries = list(PackEntry.objects.order_by("position").values_list("position", "template_id"))
        assert [position for position, _ in entries] == list(range(1, 10))
        assert len({item for _, item in entries}) == 9

    def test_of_parallel_catch_alls_one_wins(self, settings: Any) -> None:
        settings.AGENCY_KEY_LIMIT = 1_000
        a = Tenant()
        api = a.api.with_key(an_agency_key(a.agency, can_copy=True)[1])
        pack = PackClient(a).new()
        copies = [an_automation(a.workspace, name=f"Catch {number}", flow=a_catch_all()) for number in range(10)]
        workspace = str(a.workspace.uuid)
        bodies: list[dict[str, str]] = [{"template_id": WELCOME}, {"template_id": ASSISTANT}] + [
            {"workspace": workspace, "automation": str(copy.uuid)} for copy in copies
        ]
        answers = at_once(lambda number: api.post(f"/packs/{pack}/entries", bodies[number]), times=12)
        assert sorted(answer.status_code for answer in answers) == [201] + [422] * 11

    def test_of_parallel_renames_to_one_name_one_wins(self, settings: Any) -> None:
        settings.AGENCY_KEY_LIMIT = 1_000
        a = Tenant()
        packs = PackClient(a)
        pack = packs.with_entries(*[extra(number) for number in range(1, 9)])
        entries = [entry["uuid"] for entry in packs.read(pack)["entries"]]
        answers = at_once(
            lambda number: a.api.patch(f"/packs/{pack}/entries/{entries[number]}", {"name": "Mine"}), times=8
        )
        assert sorted(answer.status_code for answer in answers) == [200] + [422] * 7

    def test_the_last_removals_and_a_publication_never_leave_an_empty_published_pack(self) -> None:
        a = Tenant()
        packs = PackClient(a)
        pack = packs.with_entries(extra(1), extra(2))
        entries = [entry["uuid"] for entry in packs.read(pack)["entries"]]

        def work(number: int) -> int:
            if number < 2:
                return int(a.api.delete(f"/packs/{pack}/entries/{entries[number]}").status_code)
            return int(a.api.patch(f"/packs/{pack}", {"status": "published"}).status_code)

        assert set(at_once(work, times=6)) <= {200, 422}
        assert packs.read(pack)["entries"] == []
        assert packs.read(pack)["status"] == "draft"

    def test_packs_created_and_ordered_at_once_have_positions_of_their_own(self) -> None:
        a = Tenant()
        packs = PackClient(a)
        first = packs.new("First")

        def work(number: int) -> int:
            if number % 3:
                return int(a.api.post("/packs", {"name": f"Pack {number}"}).status_code)
            return int(a.api.put("/packs/order", {"order": [first]}).status_code)

        assert set(at_once(work, times=15)) == {200, 201}
        positions = list(Pack.objects.values_list("position", flat=True))
        assert len(set(positions)) == len(positions) == 11

    def test_a_race_lost_to_a_constraint_reads_like_the_check(self) -> None:
        a = Tenant()
        pack = Pack.objects.get(uuid=PackClient(a).with_entries(extra(1)))
        inserted = Event()

        def work(number: int) -> Any:
            if number:
                assert inserted.wait(PATIENCE_SECONDS)
                return a.api.post(f"/packs/{pack.uuid}/entries", {"template_id": BOOKING})
            with transaction.atomic():
                an_entry(pack, BOOKING, 9, name_key="else").save()
                inserted.set()
                wait_for_lock("transactionid")
            return None

        _, answer = at_once(work, times=2)
        assert answer.status_code == 422
        assert answer.json()["errors"] == {"template_id": ["This library automation is already in the pack."]}
