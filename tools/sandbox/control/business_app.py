"""The WhatsApp Business apps of the sandbox's people: which numbers stay in them, and what they hand over."""

import time
from typing import Any, Final

from tools.sandbox.control.callbacks import Body, of_number, shown_number, whatsapp_body
from tools.sandbox.control.people import Person

CONTACTS: Final = "smb_app_state_sync"
HISTORY: Final = "history"
SYNC_TYPES: Final = (CONTACTS, HISTORY)
DECLINED: Final = 2593109
DAY: Final = 24 * 3600
# The people in the address book and the chats: a number, a name, and the messages, which the business begins or not.
CHATS: Final = (
    ("491711000001", "Ada Byron", (("in", "Are you open on Sunday?"), ("out", "Yes, from ten."), ("in", "Thanks!"))),
    ("491711000002", "Ben Sample", (("out", "Your order is ready."), ("in", "I will be there at five."))),
    ("491711000003", "Carla Muster", (("in", "Do you have it in blue?"),)),
)


class BusinessApps:
    """The numbers that were connected with the choice to stay in the app, and what was requested of them."""

    def __init__(self) -> None:
        self.connected: set[str] = set()
        self._taken: set[tuple[str, str]] = set()

    def connect(self, person: Person) -> None:
        """Connect a person's numbers. Each new connection may request everything once."""
        for number in (number for business in person.businesses for number in business.numbers):
            if number.is_on_biz_app:
                self.connected.add(number.id)
                self._taken -= {(number.id, what) for what in SYNC_TYPES}

    def take(self, number: str, what: str) -> bool:
        """Count a request. It is refused for a number that is not connected, and the second time."""
        is_first = number in self.connected and (number, what) not in self._taken
        self._taken.add((number, what))
        return is_first

    def clear(self) -> None:
        self.connected.clear()
        self._taken.clear()


def app_data(owner: Person, number: str, what: str) -> list[Body]:
    """Compose the callbacks that follow a request, in their order."""
    if what == CONTACTS:
        return [
            whatsapp_body(number, CONTACTS, _own_number(number) | {"state_sync": [_entry(*chat[:2]) for chat in CHATS]})
        ]
    if owner.key == "private":
        title = "History sync is turned off by the business from the WhatsApp Business App"
        errors = [{"code": DECLINED, "title": title, "message": title}]
        return [_history(number, {"history": [{"errors": errors}]})]
    return [
        _history(number, {"history": [_part(number, 1, 40, CHATS[:1])]}),
        _history(number, {"history": [_part(number, 2, 100, CHATS[1:])]}),
    ]


def _own_number(number: str) -> Body:
    return of_number(number, shown_number(number))


def _history(number: str, value: Body) -> Body:
    return whatsapp_body(number, HISTORY, _own_number(number) | value)


def _entry(person: str, name: str) -> Body:
    contact = {"full_name": name, "first_name": name.partition(" ")[0], "phone_number": person}
    metadata = {"timestamp": str(int(time.time()))}
    return {"type": "contact", "contact": contact, "action": "add", "metadata": metadata}


def _part(number: str, chunk: int, progress: int, chats: Any) -> Body:
    threads = [
        {"id": person, "messages": [_message(number, person, place, *one) for place, one in enumerate(messages)]}
        for person, _, messages in chats
    ]
    return {"metadata": {"phase": 0, "chunk_order": chunk, "progress": progress}, "threads": threads}


def _message(number: str, person: str, place: int, direction: str, text: str) -> Body:
    sent = {"from": person} if direction == "in" else {"from": shown_number(number), "to": person}
    return sent | {
        "id": f"wamid.history.{number}.{person}.{place}",
        "timestamp": str(int(time.time()) - DAY + place * 60),
        "type": "text",
        "text": {"body": text},
        "history_context": {"status": "READ"},
    }
