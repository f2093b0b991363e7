"""`search`: a part of the name, of its owner's name or e-mail, in any case and Unicode form; or a uuid."""

from urllib.parse import quote

import pytest

from tests.factories import WorkspaceFactory
from tests.tenants import Tenant

pytestmark = pytest.mark.slow


def found(tenant: Tenant, fragment: str) -> list[str]:
    answer = tenant.api.get(f"/workspaces?search={quote(fragment)}").json()
    assert answer["meta"]["total"] == len(answer["data"])
    return sorted(sub_account["name"] for sub_account in answer["data"])


@pytest.mark.parametrize(
    ("name", "fragment"),
    [
        ("Corner Salon", "corner"),
        ("Corner Salon", "SALON"),
        ("Corner Salon", "ner sal"),
        ("Corner Salon", "  salon  "),
        ("Corner Salon", "o"),
        ("École", "école"),
        ("École", "ÉCOLE"),
        ("École", "e\u0301cole"),
        ("E\u0301cole", "éco"),
        ("Straße", "STRASSE"),
        ("STRASSE 12", "straße"),
        ("ﬁx it", "FIX"),
        ("fix it", "ﬁx"),
        ("\uff21\uff22\uff23", "abc"),
        ("abc", "\uff21\uff22\uff23"),
        ("Σας", "ΣΑΣ"),
        ("ΣΑΣ", "σας"),
        ("İstanbul", "İSTANBUL"),
        ("サロン", "ロン"),
        ("ｻﾛﾝ", "サロ"),
        ("💇 Hair", "💇"),
        ("100%", "%"),
        ("100%", "0%"),
        ("snake_case", "_"),
        ("snake_case", "e_c"),
        ("back\\slash", "\\"),
        ("back\\slash", "k\\s"),
        ('O\'Brien "Pub"', "o'brien \"p"),
        ("a+b", "+"),
    ],
)
def test_a_fragment_finds_the_name(a: Tenant, name: str, fragment: str) -> None:
    WorkspaceFactory.create(agency=a.agency, name=name)
    WorkspaceFactory.create(agency=a.agency, name="Quite Different")
    assert name in found(a, fragment)


@pytest.mark.parametrize("fragment", ["%", "_", "a%c", "a_c", "\\", "%%", ".*", "a.c", "'", "''; --", "[a-z]", "^"])
def test_signs_of_other_languages_are_plain_characters(a: Tenant, fragment: str) -> None:
    WorkspaceFactory.create(agency=a.agency, name="abc")
    assert found(a, fragment) == []


@pytest.mark.parametrize(
    "fragment",
    ["Zoë", "ZOE\u0308", "zebra", "ZEBRA@", "@stra\u00dfe", "strasse.example", "zoë zebra", "\uff3a\uff4f\u00eb"],
)
def test_a_fragment_finds_the_owner_by_name_and_e_mail(a: Tenant, fragment: str) -> None:
    WorkspaceFactory.create(
        agency=a.agency, name="abc", owner_name="Zoë Zebra", owner_email="z.Zebra@Stra\u00dfe.example"
    )
    WorkspaceFactory.create(agency=a.agency, name="Quite Different")
    assert found(a, fragment) == ["abc"]


def test_a_name_and_an_e_mail_are_not_read_as_one_text(a: Tenant) -> None:
    WorkspaceFactory.create(agency=a.agency, owner_name="Ada", owner_email="x@example.com")
    assert found(a, "adax") == found(a, "ada x") == []


@pytest.mark.parametrize("length", [8, 9, 13, 20, 35, 36])
def test_a_uuid_is_found_by_its_beginning_of_eight_digits_or_more(a: Tenant, length: int) -> None:
    sought, _ = (WorkspaceFactory.create(agency=a.agency, name=name) for name in ("Sought", "Other"))
    beginning = str(sought.uuid)[:length]
    assert found(a, beginning) == found(a, beginning.upper()) == found(a, f" {beginning} ") == ["Sought"]


@pytest.mark.parametrize("odd", ["{0}x", "{0}-", "x{0}", "{{{0}}}"])
def test_what_is_no_beginning_of_a_uuid_finds_none(a: Tenant, odd: str) -> None:
    workspace = WorkspaceFactory.create(agency=a.agency)
    assert found(a, odd.format(workspace.uuid)) == []
    assert found(a, str(workspace.uuid)[:7]) == []
    assert found(a, str(workspace.uuid)[1:]) == []


def test_a_fragment_finds_names_and_uuids_at_once(a: Tenant) -> None:
    by_uuid = WorkspaceFactory.create(agency=a.agency, name="By uuid")
    beginning = str(by_uuid.uuid)[:8]
    WorkspaceFactory.create(agency=a.agency, name=f"Copy of {beginning}")
    assert found(a, beginning) == ["By uuid", f"Copy of {beginning}"]


def test_the_new_owner_is_found_and_the_old_no_longer(a: Tenant) -> None:
    workspace = WorkspaceFactory.create(agency=a.agency, name="Shop", owner_name="Before")
    a.api.put(f"/workspaces/{workspace.uuid}/owner", {"name": "After", "email": "after@example.com"})
    assert (found(a, "before"), found(a, "after@")) == ([], ["Shop"])


def test_the_new_name_is_found_and_the_old_no_longer(a: Tenant) -> None:
    workspace = WorkspaceFactory.create(agency=a.agency, name="Before")
    a.api.patch(f"/workspaces/{workspace.uuid}", {"name": "\uff21\uff26\uff34\uff25\uff32"})
    assert (found(a, "before"), found(a, "after")) == ([], ["\uff21\uff26\uff34\uff25\uff32"])


def test_another_agency_s_names_are_not_found(a: Tenant, b: Tenant) -> None:
    WorkspaceFactory.create(agency=b.agency, name="Shared name")
    assert found(a, "shared") == []


@pytest.mark.parametrize("query", ["search=", "search=%20%20", "search"])
def test_a_blank_search_was_not_asked(a: Tenant, query: str) -> None:
    WorkspaceFactory.create(agency=a.agency)
    assert a.api.get(f"/workspaces?{query}").json()["meta"]["total"] == 1


@pytest.mark.parametrize("fragment", ["%00", "a%00b", "%ff", "%ed%a0%80", "%c3"])
def test_text_that_cannot_be_stored_matches_nothing(a: Tenant, fragment: str) -> None:
    WorkspaceFactory.create(agency=a.agency)
    response = a.api.get(f"/workspaces?search={fragment}&page=2")
    assert (response.status_code, response.json()["data"], response.json()["meta"]["total"]) == (200, [], 0)


def test_ten_kilobytes_match_nothing_without_an_error(a: Tenant) -> None:
    WorkspaceFactory.create(agency=a.agency)
    assert found(a, "x" * 10_000) == []
    assert found(a, "(a+)+$" * 1_500) == []


def test_the_last_of_several_counts(a: Tenant) -> None:
    for name in ("One", "Two"):
        WorkspaceFactory.create(agency=a.agency, name=name)
    answer = a.api.get("/workspaces?search=one&search=two").json()
    assert [sub_account["name"] for sub_account in answer["data"]] == ["Two"]
