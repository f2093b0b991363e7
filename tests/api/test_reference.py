"""The reference page says of each operation what the document says."""

import gzip
import html
import re

from django.test import Client

from config.api.documents.reference import OperationEntry, Reference, ReferenceBuilder
from config.api.documents.samples import SampleRequest, python_literal, samples_of
from config.api.documents.schemas import Schemas
from tests.api.conftest import AGENCY


def reference(anonymous: Client) -> Reference:
    return ReferenceBuilder(anonymous.get(f"{AGENCY}/openapi.json").json()).build()


def operation(anonymous: Client, anchor: str) -> OperationEntry:
    everything = [one for section in reference(anonymous).sections for one in section.operations]
    return next(one for one in everything if one.anchor == anchor)


def test_sections_hold_their_operations_in_the_document_s_order_and_events_come_last(anonymous: Client) -> None:
    sections = reference(anonymous).sections
    assert [section.title for section in sections] == ["Things", "Echo", "Events"]
    assert [one.anchor for one in sections[0].operations] == ["listThings", "createThing", "readThing", "changeThing"]
    events = {(one.method, one.path) for one in sections[-1].operations}
    assert ("EVENT", "workspace.created") in events
    assert {method for method, _ in events} == {"EVENT"}


def test_parameters_stand_where_they_are_sent(anonymous: Client) -> None:
    assert list(operation(anonymous, "listThings").parameters) == ["Query"]
    assert list(operation(anonymous, "createThing").parameters) == ["Headers"]
    (thing,) = operation(anonymous, "readThing").parameters["Path"]
    assert (thing.name, thing.type, thing.is_required) == ("thing", "string (uuid)", True)


def test_a_body_s_fields_are_named_down_to_the_last_with_what_they_may_hold(anonymous: Client) -> None:
    fields = {row.name: row for row in operation(anonymous, "createThing").body}
    assert list(fields)[:4] == ["name", "note", "owner", "owner.name"]
    assert fields["name"].is_required
    assert not fields["owner"].is_required
    assert fields["name"].notes == "1 to 20 characters."
    assert fields["plan"].type == "string (uuid) or null"
    assert fields["business_type"].type == "one of retail, other"
    assert fields["order"].notes == "At most 3 entries. No repetitions."
    assert "Default: <code>&quot;UTC&quot;</code>." in fields["timezone"].notes


def test_an_answer_leads_to_the_object_that_it_holds(anonymous: Client) -> None:
    (answer,) = operation(anonymous, "listThings").answers
    data = answer.fields[0]
    assert (data.name, data.type, data.object) == ("data", "list of Thing", "Thing")
    (thing,) = [one for one in reference(anonymous).objects if one.name == "Thing"]
    assert [row.name for row in thing.fields] == ["number"]


def test_own_errors_are_told_and_the_usual_ones_counted(anonymous: Client) -> None:
    echo = operation(anonymous, "echo")
    assert [(error.status, error.text) for error in echo.errors] == [("409", "Never, in truth.")]
    assert "401" in echo.usual_errors
    assert {error.status for error in reference(anonymous).errors} >= {"401", "409", "422", "503"}


def test_samples_send_the_example_with_a_key_from_the_environment() -> None:
    url = "https://app.example.com/things/THING_ID"
    body = {"name": "Ada's “Salon”", "plan": None, "enabled": True, "tags": [], "days": ["mon"]}
    curl, python, node = samples_of(SampleRequest("PATCH", url, body, is_idempotent=True))
    assert curl.text.startswith(f"curl -X PATCH {url} \\\n")
    assert '-H "x-api-key: $API_KEY"' in curl.text
    assert """Ada'"'"'s""" in curl.text
    assert "requests.patch(" in python.text
    assert '"Idempotency-Key": str(uuid4())' in python.text
    assert 'method: "PATCH"' in node.text
    compile(python.text, "sample.py", "exec")
    assert eval(python_literal(body)) == body  # noqa: S307  # what is written is under test


def test_a_read_sends_neither_body_nor_idempotency_key() -> None:
    for sample in samples_of(SampleRequest("GET", "https://app.example.com/things", None, is_idempotent=False)):
        assert not re.search(r"Idempotency|Content-Type|json=|-X|-d", sample.text), sample.text


def test_recursive_and_nullable_schemas_end() -> None:
    step = {
        "type": "object",
        "properties": {"next": {"oneOf": [{"$ref": "#/components/schemas/Step"}, {"type": "null"}]}},
    }
    schemas = Schemas({"Step": step})
    rows = list(schemas.rows(step, into=True))
    assert [row.name for row in rows] == [
        "next",
        "next.next",
        "next.next.next",
        "next.next.next.next",
        ".".join(["next"] * 5),
    ]
    assert (rows[-1].type, rows[-1].object) == ("Step or null", "Step")


def test_the_page_is_sent_compressed_to_whoever_takes_that(anonymous: Client) -> None:
    plain = anonymous.get("/api/docs/agency")
    packed = anonymous.get("/api/docs/agency", headers={"accept-encoding": "gzip"})
    assert packed["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.content) == plain.content


def test_what_a_description_holds_is_text(anonymous: Client) -> None:
    page = anonymous.get("/api/docs/agency").content.decode()
    assert "Never, in truth." in html.unescape(page)
    assert "`" not in re.sub(r"<pre.*?</pre>", "", page, flags=re.DOTALL)
