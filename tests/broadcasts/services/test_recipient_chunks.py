"""Pages in the middle of many recipients begin with the chunk they stand in, and are exact whoever becomes whom."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from broadcasts.models import Broadcast, Recipient, RecipientChunk, Stage
from broadcasts.services import listing
from broadcasts.services.counts import add_counts
from broadcasts.services.preparation import prepare_chunk
from broadcasts.services.progress import PreparationLoop
from tests import furnished
from tests.broadcasts.services.making import a_contact, a_segment, begun, many_contacts, scheduled, templated, work
from tests.tenants import Tenant
from workspaces.contacts.models import Contact

a = furnished.a_with_channel

pytestmark = [pytest.mark.slow, pytest.mark.django_db, pytest.mark.usefixtures("_few_are_near")]
NEAR, CHUNK, SIZE = 50, 15, 10
SCANNED = "EXPLAIN (ANALYZE, TIMING OFF, COSTS OFF, FORMAT JSON) "


@pytest.fixture
def _few_are_near(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a tenth of the usual number of recipients be many."""
    monkeypatch.setattr(listing, "NEAR", NEAR)


def a_large_broadcast(a: Tenant) -> Broadcast:
    many_contacts(a, 2 * NEAR + 4 * SIZE)
    return begun(a, chunk=CHUNK, message=templated(a))


def page(a: Tenant, broadcast: Broadcast, number: int) -> list[str]:
    answer = a.workspace_api.get(f"/broadcasts/{broadcast.uuid}/recipients?per_page={SIZE}&page={number}").json()
    return [one["id"] for one in answer["data"]]


def check_pages(a: Tenant, broadcast: Broadcast) -> None:
    """Every page is what counting from the newest recipient finds."""
    rows = [str(one.uuid) for one in Recipient.objects.of(broadcast).newest_first()]
    for number in range(1, len(rows) // SIZE + 2):
        assert page(a, broadcast, number) == rows[(number - 1) * SIZE : number * SIZE], number


def middle(broadcast: Broadcast, *, at: int = 0) -> Contact:
    contacts = Recipient.objects.of(broadcast).newest_first().values_list("contact_id", flat=True)
    return Contact.objects.get(pk=contacts[NEAR + SIZE + at])


def walked(statements: Any) -> float:
    """How many recipients were passed to find the page.

    In a table this small, sorting may be the cheaper plan: that depends on what earlier tests have left in its index.
    """
    [sql] = [one["sql"] for one in statements if "OFFSET" in one["sql"] and "broadcasts_recipient " in one["sql"]]
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_sort = off")
        cursor.execute(SCANNED + sql)
        [plan] = cursor.fetchone()[0]
        cursor.execute("SET LOCAL enable_sort = on")
    node = plan["Plan"]
    while node.get("Plans"):
        [node] = node["Plans"]
    return float(node["Actual Rows"])


def check_that_a_chunk_is_walked(a: Tenant, broadcast: Broadcast) -> CaptureQueriesContext:
    with CaptureQueriesContext(connection) as statements:
        page(a, broadcast, NEAR // SIZE + 2)
    assert walked(statements) <= CHUNK + SIZE
    return statements


def test_a_page_in_the_middle_walks_over_one_chunk_at_most(a: Tenant) -> None:
    broadcast = a_large_broadcast(a)
    check_pages(a, broadcast)
    statements = check_that_a_chunk_is_walked(a, broadcast)
    assert len(statements) == 8  # switch, caller, broadcast, counts, chunk, page, recipients, contacts


@pytest.mark.parametrize("status", ["pending", "sent"])
@pytest.mark.parametrize("is_older", [True, False], ids=["older", "newer"])
def test_pages_stay_exact_where_a_contact_that_had_no_place_becomes_one_of_them(
    a: Tenant, status: str, is_older: bool
) -> None:
    older = a_contact(a, None, tags=["no"], tag_keys=["no"])
    many_contacts(a, 2 * NEAR + 4 * SIZE)
    Contact.objects.exclude(pk=older.pk).update(tags=["yes"], tag_keys=["yes"])
    segment = a_segment(a, tags_any=["yes"])
    named = {"type": "segment", "segment": str(segment.uuid)}
    broadcast = begun(a, chunk=CHUNK, message=templated(a), segment=segment, audience=named)
    kept = older if is_older else a_contact(a, None)
    gone = middle(broadcast)
    if status == "sent":
        Recipient.objects.of(broadcast).filter(contact_id=gone.pk).update(status="sent", stage=Stage.DONE)
        add_counts({broadcast.pk: {"pending": -1, "sent": 1}})
    answer = a.workspace_api.post(f"/contacts/{kept.uuid}/merge", {"contact": str(gone.uuid)})
    assert answer.status_code == 200, answer.content
    assert Recipient.objects.of(broadcast).filter(contact_id=kept.pk).exists()
    check_pages(a, broadcast)
    check_that_a_chunk_is_walked(a, broadcast)


def test_a_broadcast_whose_chunks_say_too_little_is_walked(a: Tenant) -> None:
    broadcast = a_large_broadcast(a)
    first = RecipientChunk.objects.filter(broadcast_id=broadcast.pk).order_by("-up_to").first()
    assert first is not None
    first.delete()
    check_pages(a, broadcast)


def test_pages_stay_exact_where_preparation_goes_back(a: Tenant) -> None:
    many_contacts(a, 2 * NEAR + 4 * SIZE)
    chosen = list(Contact.objects.order_by("pk").values_list("pk", flat=True))
    passed = Contact.objects.get(pk=chosen.pop(NEAR + SIZE))
    broadcast = scheduled(
        a, message=templated(a), audience={"type": "contacts", "contacts": []}, chosen_contacts=chosen
    )
    PreparationLoop().look()
    for _ in range(8):
        assert prepare_chunk(broadcast.pk, now=now(), size=CHUNK)
    last = Contact.objects.get(pk=chosen[-1])
    assert a.workspace_api.post(f"/contacts/{passed.uuid}/merge", {"contact": str(last.uuid)}).status_code == 200
    work(2 * CHUNK)
    assert Recipient.objects.of(broadcast).count() == len(chosen)
    check_pages(a, broadcast)
