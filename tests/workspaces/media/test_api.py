"""Files over the workspace API: uploaded once, listed, read, removed."""

import hashlib
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from tests.tenants import Api, Multipart, Tenant, message
from tests.workspaces.media.files import FILM, PDF, picture
from workspaces.automations.models import Automation
from workspaces.media.models import Media, UnusedFile
from workspaces.media.services import remove_next_unused_file

MIB = 1024 * 1024
pytestmark = pytest.mark.django_db


def upload(api: Api, content: bytes = PDF, filename: str = "bill.pdf", **headers: str) -> Any:
    return api.post("/media", Multipart.of(content, filename), **headers)


def test_an_uploaded_file_is_shown_and_read_by_its_address(a: Tenant) -> None:
    answer = upload(a.workspace_api, picture(), "My Photo.html")

    assert answer.status_code == 201
    made = answer.json()["data"]
    assert made.keys() == {"id", "url", "filename", "content_type", "size", "created_at"}
    assert (made["filename"], made["content_type"], made["size"]) == ("My Photo.html", "image/png", len(picture()))
    assert made["url"].startswith("http://testserver/media/")
    assert a.workspace_api.get(f"/media/{made['id']}").json()["data"] == made
    read = Client().get(made["url"])
    assert b"".join(read) == picture()


def test_the_newest_file_is_the_first_of_the_list_in_four_statements(a: Tenant, django_assert_num_queries: Any) -> None:
    names = [upload(a.workspace_api, filename=f"{number}.pdf").json()["data"]["filename"] for number in range(3)]

    with django_assert_num_queries(4):  # the switch, the key, the page, the count
        page = a.workspace_api.get("/media?limit=2").json()

    assert [one["filename"] for one in page["data"]] == names[:0:-1]
    assert page["meta"]["total"] == 3


def test_a_file_is_nobody_else_s(a: Tenant, b: Tenant) -> None:
    made = upload(a.workspace_api).json()["data"]

    for method in ("GET", "DELETE"):
        refused = b.workspace_api.call(method, f"/media/{made['id']}")
        assert (refused.status_code, message(refused)) == (404, "Media not found.")
    assert b.workspace_api.get("/media").json()["data"] == []


def test_a_removed_file_is_gone_from_the_list_its_address_and_the_storage(a: Tenant) -> None:
    made = upload(a.workspace_api).json()["data"]
    folder = Path(settings.MEDIA_DIRECTORY, str(a.workspace.uuid))
    assert len(list(folder.iterdir())) == 1

    answer = a.workspace_api.delete(f"/media/{made['id']}")

    assert (answer.status_code, answer.json()) == (200, {"data": {"deleted": True}})
    assert a.workspace_api.delete(f"/media/{made['id']}").status_code == 404
    assert Client().get(made["url"]).status_code == 404
    assert remove_next_unused_file()
    assert not list(folder.iterdir())


@pytest.mark.parametrize("where", ["draft", "published"])
def test_a_file_that_an_automation_names_is_not_removed(a: Tenant, where: str) -> None:
    made = upload(a.workspace_api).json()["data"]
    flow = {"steps": [{"config": {"media": made["id"]}}]}
    automation = a.automation
    if where == "draft":
        Automation.objects.filter(pk=automation.pk).update(draft=flow)
    else:
        assert automation.published is not None
        Automation.objects.filter(pk=automation.pk).update(published=automation.versions.create(number=2, flow=flow))

    refused = a.workspace_api.delete(f"/media/{made['id']}")

    assert refused.status_code == 409
    assert message(refused) == f"This file is needed by the automation \u201c{automation.name}\u201d."
    assert Media.objects.filter(uuid=made["id"]).exists()


def test_a_repeated_upload_is_one_file_and_another_file_under_its_key_is_refused(a: Tenant) -> None:
    first = upload(a.workspace_api, idempotency_key="one")
    again = upload(a.workspace_api, idempotency_key="one")

    assert (again.status_code, again.content) == (201, first.content)
    assert again["Idempotent-Replayed"] == "true"
    assert Media.objects.count() == 1
    assert not UnusedFile.objects.exists()
    for other in (
        upload(a.workspace_api, PDF + b"\n", idempotency_key="one"),
        upload(a.workspace_api, filename="other.pdf", idempotency_key="one"),
    ):
        assert other.status_code == 409
    assert Media.objects.count() == 1


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        (Multipart.of(PDF, field="document"), 422, "The file field is required."),
        (Multipart.of(b""), 422, "The file is empty."),
        (Multipart(b"--border\r\n"), 422, "The file field is required."),
        ({"file": "x"}, 415, "Send the file as multipart/form-data."),
        (b"", 400, "The body is empty; send the file as multipart/form-data."),
        (Multipart.of(picture() + bytes(16 * MIB)), 413, "A file of this type may have at most 16 MiB."),
        (Multipart.of(FILM + bytes(16 * MIB)), 413, "A file of this type may have at most 16 MiB."),
    ],
)
def test_what_is_no_file_that_may_be_kept_is_refused_and_leaves_nothing(
    a: Tenant, body: Any, status: int, said: str
) -> None:
    refused = a.workspace_api.post("/media", body)

    assert (refused.status_code, message(refused)) == (status, said)
    assert not Media.objects.exists()
    assert not UnusedFile.objects.exists()


def test_a_document_may_be_as_large_as_providers_take_it(a: Tenant) -> None:
    content = PDF + bytes(100 * MIB - len(PDF))

    made = upload(a.workspace_api, content)
    refused = upload(a.workspace_api, content + b"\n")

    assert (made.status_code, made.json()["data"]["size"]) == (201, 100 * MIB)
    assert bytes(Media.objects.get().sha256) == hashlib.sha256(content).digest()
    assert (refused.status_code, message(refused)) == (413, "The file is larger than 100 MiB.")


def test_a_length_past_every_file_is_refused_unread(a: Tenant) -> None:
    refused = a.workspace_api.post("/media", Multipart.of(PDF), content_length=str(102 * MIB))

    assert (refused.status_code, message(refused)) == (413, "The file is larger than 100 MiB.")


@pytest.mark.parametrize(
    "kind", ["multipart/form-data", "multipart/form-data; boundary=\u00fc", "multipart/mixed; boundary=a"]
)
def test_a_form_without_a_boundary_is_refused(a: Tenant, kind: str) -> None:
    refused = a.workspace_api.post("/media", bytes(Multipart.of(PDF)), content_type=kind)

    assert refused.status_code in (400, 415)


def test_two_files_at_once_are_refused(a: Tenant) -> None:
    part = bytes(Multipart.of(PDF)).removesuffix(b"--border--\r\n")
    refused = a.workspace_api.post("/media", Multipart(part + bytes(Multipart.of(PDF))))

    assert (refused.status_code, refused.json()["errors"]) == (422, {"file": ["Send one file in a request."]})
    assert not Media.objects.exists()


@pytest.mark.parametrize("filename", ["..", ".", "/", "a/..", "&#46;&#46;"])
def test_a_name_of_which_nothing_is_left_is_refused(a: Tenant, filename: str) -> None:
    refused = upload(a.workspace_api, filename=filename)

    said = "The file's name must be more than dots and slashes."
    assert (refused.status_code, refused.json()["errors"]) == (422, {"file": [said]})
    assert not Media.objects.exists()


@pytest.mark.parametrize("filename", ["a" * 1_000 + ".pdf", "\u00e9" * 600 + ".pdf"])
def test_a_name_that_is_too_long_is_refused(a: Tenant, filename: str) -> None:
    refused = upload(a.workspace_api, filename=filename)

    assert (refused.status_code, refused.json()["errors"]) == (422, {"file": ["The file's name is too long."]})
    assert not Media.objects.exists()


def test_a_long_name_is_shortened(a: Tenant) -> None:
    made = upload(a.workspace_api, filename="a" * 900 + ".pdf")

    assert (made.status_code, len(made.json()["data"]["filename"])) == (201, 200)
