"""The library's files, and the check that lets nothing wrong start."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as project

from packs.library import library
from packs.library.loading import build, read_files
from packs.library.validation import check_library, file_errors, library_errors
from tests.packs.small_library import ASSISTANT, BOOKING, WELCOME, write_library
from workspaces.automations.flows.registry import STEPS, TRIGGERS

Files = dict[str, Any]


@pytest.fixture
def files(small_library: Path) -> Files:
    return read_files(small_library)


def salon(files: Files, position: int = 0) -> dict[str, Any]:
    item: dict[str, Any] = files["salons.json"]["automations"][position]
    return item


def test_the_small_library_of_these_tests_is_sound_but_small(files: Files) -> None:
    assert list(file_errors(files)) == []
    errors = list(library_errors(build(files)))
    assert "The library has 18 automations; it needs 40." in errors
    assert "The library has 0 automations for events; it needs 4." in errors
    assert "No automation is for sms." in errors
    assert "No automation requires payment." in errors


def test_items_and_packs_are_read_in_order(files: Files) -> None:
    built = build(files)
    assert list(built.items)[:3] == [BOOKING, WELCOME, ASSISTANT]
    assert built.pack_for("other") is built.packs[-1]
    assert library() is library()


def change(**changes: Any) -> Callable[[Files], None]:
    def apply(files: Files) -> None:
        salon(files).update(changes)

    return apply


def change_flow(**changes: Any) -> Callable[[Files], None]:
    def apply(files: Files) -> None:
        salon(files)["flow"]["steps"][0]["config"].update(changes)

    return apply


def change_pack(**changes: Any) -> Callable[[Files], None]:
    def apply(files: Files) -> None:
        files["platform_packs.json"]["packs"][0].update(changes)

    return apply


@pytest.mark.parametrize(
    ("break_it", "sentence"),
    [
        (lambda files: files.update({"farming.json": {}}), "farming.json: there is no industry of that name."),
        (lambda files: files["salons.json"].update(industry="events"), "salons.json: `industry` must be salons."),
        (lambda files: files["events.json"].update(automations=None), "events.json: `automations` must be a list."),
        (change(id=WELCOME), f"The id {WELCOME} is used more than once."),
        (change(name="WELCOME everybody"), "The name welcome everybody is used more than once."),
        (change(id="Salons booking"), "the id must be lower-case"),
        (change(id="events-booking"), "the id must begin with salons-."),
        (change(name=""), "name must be a trimmed text"),
        (change(description="d" * 501), "description must be a trimmed text of at most 500 characters."),
        (change(description="Write to us@example.com"), "description holds an e-mail address or account name."),
        (change(channels=[]), "channels must name channel types."),
        (change(channels=["pigeon"]), "channels must name channel types."),
        (change(channels=["sms", "sms"]), "a channel type is named twice."),
        (change(flow={}), "on whatsapp: The flow needs a trigger."),
        (change_flow(text=""), "on whatsapp: Step 1 (Book an appointment): text is not filled in."),
        (change_flow(text="Call 030 1234567"), "holds something private: Step 1: Book an appointment (Text)."),
        (change_flow(calendar="main"), "holds something private: Step 1: Book an appointment (Calendar)."),
        (lambda files: files.pop("platform_packs.json"), "`packs` must be a list."),
        (change_pack(business_type="other"), "there must be exactly one pack for each of"),
        (change_pack(id="other-starter"), "two packs have the same id."),
        (change_pack(industry="farming"), "industry is not known."),
        (change_pack(summary="s" * 301), "summary must be a trimmed text of at most 300 characters."),
        (change_pack(entries=[]), "a pack has one to 9 entries."),
        (change_pack(entries=[{"item": "gone", "tier": "core"}]), "gone is not in the library."),
        (change_pack(entries=[{"item": BOOKING, "tier": "core"}] * 2), "the same automation is in it twice."),
        (change_pack(entries=[{"item": BOOKING, "tier": "maybe"}]), "tier must be core or optional."),
    ],
)
def test_every_mistake_is_named(files: Files, break_it: Callable[[Files], None], sentence: str) -> None:
    files = copy.deepcopy(files)
    break_it(files)
    assert any(sentence in error for error in file_errors(files))


def test_an_account_of_the_agency_is_not_allowed_in_the_library(files: Files) -> None:
    files = copy.deepcopy(files)
    salon(files, 2)["flow"]["steps"][0]["config"]["account"] = "main"
    assert any("account points at an account" in error for error in file_errors(files))


def test_barred_steps_are_not_allowed_in_the_library(files: Files) -> None:
    files = copy.deepcopy(files)
    salon(files)["flow"]["steps"] = [{"id": "book", "type": "custom_code", "config": {"code": "1"}}]
    assert any("Run code" in error for error in file_errors(files))


def test_a_retired_id_is_never_used_again(files: Files) -> None:
    files = copy.deepcopy(files)
    files["events.json"]["retired"] = [{"id": BOOKING, "name": "Old"}]
    assert f"The id {BOOKING} is used more than once." in list(file_errors(files))


def test_a_pack_with_two_catch_alls_is_reported(files: Files) -> None:
    files = copy.deepcopy(files)
    entries = [{"item": item, "tier": "core"} for item in (WELCOME, ASSISTANT)]
    files["platform_packs.json"]["packs"][0]["entries"] = entries
    assert "platform_packs.json: salon-spa-starter: more than one catch-all." in list(library_errors(build(files)))


def test_the_system_check_says_what_is_wrong(settings: Any, tmp_path: Path) -> None:
    (tmp_path / "salons.json").write_text("{")
    settings.PACK_LIBRARY = tmp_path
    assert [error.id for error in check_library(None)] == ["packs.E001"]
    (tmp_path / "salons.json").write_text("{}")
    assert {error.id for error in check_library(None)} == {"packs.E002"}
    settings.PACK_LIBRARY = write_library(tmp_path)
    assert {error.id for error in check_library(None)} == {"packs.E003"}


def test_the_products_own_library_passes(settings: Any) -> None:
    settings.PACK_LIBRARY = project.BASE_DIR / "packs" / "library"
    assert check_library(None) == []


def test_the_readme_names_every_type_of_trigger_and_step() -> None:
    readme = (project.BASE_DIR / "packs" / "library" / "README.md").read_text()
    assert [name for name in [*STEPS, *TRIGGERS] if f"| `{name}`" not in readme] == []
