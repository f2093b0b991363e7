"""Tests of the watching itself: a document that departs from the answers is found out."""

import copy
from typing import Any

import orjson
import pytest
from django.db import transaction
from django.utils.timezone import now

from agency import tenants
from agency.actors import SYSTEM
from agency.event_types import event_labels, event_type
from agency.services.events import write_event
from config.api.documents.building import AGENCY, WORKSPACE
from tests import furnished
from tests.document import recording
from tests.document.schemas import JSON
from tests.document.validation import DocumentValidator
from tests.tenants import Tenant
from webhooks.services.deliveries import sample_envelope, send_test

a = furnished.a_with_customer

CUSTOMERS = f"{AGENCY.prefix}/workspaces"
DELIVERIES = f"{AGENCY.prefix}/webhooks/deliveries"


@pytest.fixture
def document() -> JSON:
    """The agency's document, to be changed."""
    return copy.deepcopy(recording.validator_of(AGENCY).document)


def mistakes(document: JSON, path: str, response: Any, method: str = "GET") -> str:
    return "\n".join(DocumentValidator(document).answer_mistakes(method, path, response.status_code, response.content))


def test_a_renamed_field_is_found_with_operation_status_path_and_part(a: Tenant, document: JSON) -> None:
    answer = a.api.get(a.path)
    path = f"{CUSTOMERS}/{{workspace}}"
    assert not mistakes(document, path, answer)
    for schema in ("SubAccount", "SubAccountDetail"):
        fields = document["components"]["schemas"][schema]["properties"]
        fields["tz"] = fields.pop("timezone")
    found = mistakes(document, path, answer)
    assert f"readSubAccount (GET {path}) answers 200, $.data" in found
    assert "'timezone' was unexpected" in found
    assert a.workspace.name in found


def test_a_field_that_is_missing_in_the_document_is_found(a: Tenant, document: JSON) -> None:
    send_test(endpoint=a.endpoint, event="workspace.created", now=now(), by=SYSTEM)
    answer = a.api.get("/webhooks/deliveries")
    assert not mistakes(document, DELIVERIES, answer)
    del document["components"]["schemas"]["Delivery"]["properties"]["next_attempt_at"]
    document["components"]["schemas"]["Delivery"]["required"].remove("next_attempt_at")
    assert "$.data[0]: Additional properties are not allowed ('next_attempt_at'" in mistakes(
        document, DELIVERIES, answer
    )


def test_a_field_that_is_missing_in_the_answer_is_found(a: Tenant, document: JSON) -> None:
    answer = a.api.get(a.path)
    document["components"]["schemas"]["SubAccountDetail"]["properties"]["color"] = {"type": "string"}
    document["components"]["schemas"]["SubAccountDetail"]["required"].append("color")
    assert "'color' is a required property" in mistakes(document, f"{CUSTOMERS}/{{workspace}}", answer)


def test_a_status_that_the_operation_does_not_declare_is_found(a: Tenant, document: JSON) -> None:
    answer = a.api.get("/workspaces/no-uuid")
    path = f"{CUSTOMERS}/{{workspace}}"
    assert (answer.status_code, mistakes(document, path, answer)) == (404, "")
    del document["paths"][path]["get"]["responses"]["404"]
    assert "answers 404, which the document does not declare" in mistakes(document, path, answer)


def test_a_path_or_method_that_is_no_operation_answers_only_404_or_405(a: Tenant, document: JSON) -> None:
    unknown, wrong = a.api.get("/nothing"), a.api.delete("/plans")
    assert (unknown.status_code, wrong.status_code) == (404, 405)
    plans = f"{AGENCY.prefix}/plans"
    assert not mistakes(document, "/nothing", unknown)
    assert not mistakes(document, plans, wrong, "DELETE")
    assert "no operation, answers 405" in mistakes(document, "/nothing", wrong)
    assert "no operation, answers 404" in mistakes(document, plans, unknown, "DELETE")


def test_an_error_with_an_unknown_field_is_found(a: Tenant, document: JSON) -> None:
    path = f"{CUSTOMERS}/{{workspace}}"
    body = orjson.dumps({"message": "Not found.", "code": 17})
    found = DocumentValidator(document).answer_mistakes("GET", path, 404, body)
    assert len(found) == 1
    assert "'code' was unexpected" in found[0]


@pytest.mark.parametrize(
    ("field", "value"), [("uuid", "8D1F3B1E-52B4-4C8E-9A3E-2F6C7D8E9F10"), ("created_at", "2026-11-20T10:00:00+01:00")]
)
def test_an_id_or_a_time_in_another_form_is_found(a: Tenant, document: JSON, field: str, value: str) -> None:
    body = a.api.get(a.path).json()
    body["data"][field] = value
    found = DocumentValidator(document).answer_mistakes("GET", f"{CUSTOMERS}/{{workspace}}", 200, orjson.dumps(body))
    assert len(found) == 1
    assert f"$.data.{field}" in found[0]


def test_an_envelope_with_another_field_or_of_an_unknown_event_is_found(document: JSON) -> None:
    body = sample_envelope("workspace.created")
    assert not DocumentValidator(document).envelope_mistakes(body)
    del document["components"]["schemas"]["SubAccountReference"]["properties"]["plan"]
    [found] = DocumentValidator(document).envelope_mistakes(body)
    assert "The envelope of workspace.created, $.data.workspace" in found
    del document["webhooks"]["workspace.created"]
    [found] = DocumentValidator(document).envelope_mistakes(body)
    assert "not among the document's webhooks" in found


@pytest.mark.parametrize("event", event_labels())
def test_the_sample_of_an_event_is_what_the_document_says(document: JSON, event: str) -> None:
    assert not DocumentValidator(document).envelope_mistakes(sample_envelope(event))


def test_every_answer_is_watched(a: Tenant, document: JSON, monkeypatch: pytest.MonkeyPatch) -> None:
    del document["paths"][CUSTOMERS]["get"]["responses"]["200"]
    monkeypatch.setattr(recording, "validator_of", lambda _: DocumentValidator(document))
    a.api.get("/workspaces")
    [found] = recording.found_mistakes
    assert "listSubAccounts" in found
    recording.found_mistakes.clear()


def test_every_recorded_event_is_watched(a: Tenant) -> None:
    data = {**event_type("workspace.created").sample_data(), "secret": 17}
    with transaction.atomic():
        write_event(tenant=tenants.Tenant(a.agency.pk), name="workspace.created", data=data, now=now())
    [found] = recording.found_mistakes
    assert "'secret' was unexpected" in found
    recording.found_mistakes.clear()


@pytest.mark.parametrize("document_of", [AGENCY, WORKSPACE], ids=["agency", "workspace"])
def test_a_document_carries_no_marks_of_the_library(document_of: Any) -> None:
    text = orjson.dumps(recording.validator_of(document_of).document).decode()
    assert '"x-errors"' not in text
    assert "x-spec-enum-id" not in text
    assert "An object of the body" not in text
