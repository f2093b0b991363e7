"""Variables: those that a text may hold are those that preparation and tests know to fill in."""

from typing import Any

import orjson
import pytest

from broadcasts.content import FrozenMessage, JsonTemplate
from broadcasts.services.audience import CONTACT_VALUES
from broadcasts.services.fields import CONTACT, contact_value
from tests import furnished
from tests.broadcasts.services.making import a_contact, begun, filled, recipients, templated
from tests.tenants import Tenant
from workspaces.contacts.models import Contact

a = furnished.a_with_channel


def test_what_may_be_written_is_what_is_filled_in() -> None:
    assert {f"contact.{name}" for name in CONTACT} == CONTACT_VALUES.keys()


def test_a_test_fills_in_what_is_known_of_a_contact() -> None:
    ada = Contact(name=" Ada King Lovelace ", phone="+4930123", attributes={"birthday gift": "tea"})
    values = [contact_value(ada, f"contact.{name}") for name in CONTACT]
    assert values == [" Ada King Lovelace ", "Ada", "King Lovelace", "", "+4930123", ""]
    assert (contact_value(ada, "fields.birthday gift"), contact_value(ada, "fields.town")) == ("tea", "")


@pytest.mark.parametrize(
    "text",
    [
        'Hello {{\n contact.name }}, "{{token.0}}" is 100 % yours',
        "%s %(a)s %% \\u0000 \\ é \u2028 {{contact.name}}",
        "{{ fields.birthday gift }}{{contact.name}} {{contact.unknown}} {{ not.a.variable }}",
        "{{contact.name}}{{contact.name}}",
        "nothing",
        "",
    ],
)
@pytest.mark.parametrize("name", ["Ada", 'A"d\\a', "100 %s %% {{contact.name}}", "é\u2028\n\t\x7f🎉", ""])
def test_components_that_are_written_once_say_what_they_would_say_written_anew(text: str, name: str) -> None:
    components = [{"type": "body", "{{contact.name}}": 7, "parameters": [{"text": text}, {"number": 1.5, "no": None}]}]
    frozen = FrozenMessage(
        template={"components": components},
        variables=("contact.name", "fields.birthday gift"),
        links=("https://shop.example/{{contact.name}}",),
    )
    values = [name, "tea"]
    _, anew = frozen.for_recipient(values, lambda number: f"https://link.example/l/{number}")

    written = JsonTemplate(components).with_names(
        frozen.names_of(values, lambda number: f"https://link.example/l/{number}")
    )

    assert {"components": orjson.loads(orjson.dumps(written))} == anew


def test_what_is_no_text_fills_nothing_in() -> None:
    names: Any = {"contact.name": None}
    with pytest.raises(TypeError):
        JsonTemplate(["{{contact.name}}"]).with_names(names)


@pytest.mark.django_db
def test_contacts_without_a_value_get_the_fallback_and_are_skipped_without_one(a: Tenant) -> None:
    templated(a)
    ada = a_contact(a, "+4930123001", name="Ada", attributes={"town": "York"})
    nameless = a_contact(a, "+4930123002", name=" ", attributes={"town": "Bath"})
    townless = a_contact(a, "+4930123003", name="Grace")
    message = filled("Hello {{contact.first_name}} in {{fields.town}}")

    broadcast = begun(a, message=message, fallbacks={"contact.first_name": "you"})

    found = recipients(broadcast)
    assert [found[one.pk].values for one in (ada, nameless, townless)] == [["Ada", "York"], ["you", "Bath"], None]
    assert found[townless.pk].skip_reason == "variable_missing"
