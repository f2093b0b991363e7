"""Variables: those that a text may hold are those that preparation and tests know to fill in."""

from broadcasts.services.audience.expressions import CONTACT_VALUES
from broadcasts.services.editing.fields.variables import CONTACT, contact_value
from workspaces.contacts.models import Contact


def test_what_may_be_written_is_what_is_filled_in() -> None:
    assert {f"contact.{name}" for name in CONTACT} == CONTACT_VALUES.keys()


def test_a_test_fills_in_what_is_known_of_a_contact() -> None:
    ada = Contact(name=" Ada King Lovelace ", phone="+4930123", attributes={"birthday gift": "tea"})
    values = [contact_value(ada, f"contact.{name}") for name in CONTACT]
    assert values == [" Ada King Lovelace ", "Ada", "King Lovelace", "", "+4930123", ""]
    assert (contact_value(ada, "fields.birthday gift"), contact_value(ada, "fields.town")) == ("tea", "")
