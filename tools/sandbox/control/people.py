"""The people of the sandbox's consent screens. Choosing a person chooses what happens."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Final

from tools.sandbox.control.faults import Fault

ALL_TASKS: Final = ("ADVERTISE", "ANALYZE", "CREATE_CONTENT", "MESSAGING", "MODERATE", "MANAGE")


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    id: str
    shown: str
    name: str
    quality: str = "GREEN"
    status: str = "CONNECTED"
    platform: str = "CLOUD_API"
    verification: str = "VERIFIED"
    is_on_biz_app: bool = False
    limit: str = "TIER_2K"
    throughput: str = "STANDARD"
    pin: str = ""  # of a two-step verification that was set before

    def fields(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "display_phone_number": self.shown,
            "verified_name": self.name,
            "quality_rating": self.quality,
            "code_verification_status": self.verification,
            "name_status": "APPROVED",
            "status": self.status,
            "platform_type": self.platform,
            "is_on_biz_app": self.is_on_biz_app,
            "throughput": {"level": self.throughput},
            "whatsapp_business_manager_messaging_limit": self.limit,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Business:
    """A WhatsApp business account."""

    id: str
    name: str
    numbers: tuple[Number, ...]
    review: str = "APPROVED"


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    id: str
    name: str
    tasks: tuple[str, ...] = ALL_TASKS
    instagram_id: str = ""
    instagram_name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """`declines` are permissions that the person never gives. With `has_gaps` every second page of a list is empty."""

    key: str
    what: str
    id: str
    portfolio_id: str
    businesses: tuple[Business, ...] = ()
    pages: tuple[Page, ...] = ()
    declines: tuple[str, ...] = ()
    has_gaps: bool = False
    hides_pages: bool = False  # the list of Pages is empty, but each Page can be read by its id
    covers_all: bool = False  # scopes come without target ids
    faults: tuple[Fault, ...] = field(default=())


def _numbered(position: int, key: str, what: str, businesses: int = 1, numbers: int = 2, pages: int = 2) -> Person:
    """Make a person with this many accounts. The ids are made of person, kind and index."""
    base = position * 10_000
    return Person(
        key=key,
        what=what,
        id=str(3_000_000 + base),
        portfolio_id=str(8_000_000 + base),
        businesses=tuple(_business(base, index, numbers) for index in range(businesses)),
        pages=tuple(_page(base, index) for index in range(pages)),
    )


def _business(base: int, index: int, numbers: int) -> Business:
    first = base + index * 1_000
    return Business(
        id=str(2_000_000 + first),
        name=f"Business {index + 1}",
        numbers=tuple(
            Number(id=str(4_000_000 + first + n), shown=f"+1 555-{first // 1_000:03d}-{n:04d}", name=f"Shop {n + 1}")
            for n in range(numbers)
        ),
    )


def _page(base: int, index: int) -> Page:
    return Page(
        id=str(6_000_000 + base + index),
        name=f"Page {index + 1} \u00e9",
        instagram_id=str(7_000_000 + base + index),
        instagram_name=f"shop.{base // 10_000}.{index + 1}",
    )


def _with_number(person: Person, **changes: Any) -> Person:
    """Leave the person one business account with one number, changed in this way."""
    business = person.businesses[0]
    number = replace(business.numbers[0], **changes)
    return replace(person, businesses=(replace(business, numbers=(number,)),))


def _everybody() -> Iterable[Person]:
    yield _numbered(1, "ann", "Everything goes well: two numbers, two Pages with Instagram")
    yield _numbered(2, "nobody", "Has no number, no Page, no Instagram account", 0, 0, 0)
    onlooker = _with_number(
        _numbered(3, "onlooker", "Number in the Business app, Pages without tasks"), is_on_biz_app=True
    )
    yield replace(onlooker, pages=tuple(replace(page, tasks=("ANALYZE",)) for page in onlooker.pages))
    unlinked = _numbered(4, "unlinked", "Pages without a linked Instagram account")
    yield replace(unlinked, pages=tuple(replace(page, instagram_id="") for page in unlinked.pages))
    yield _numbered(5, "many", "Exactly 500 numbers, Pages and Instagram accounts", 1, 500, 500)
    yield _numbered(6, "crowd", "501 of each, more than can be listed", 1, 501, 501)
    yield replace(_numbered(7, "gaps", "Lists with empty pages in between", 1, 5, 5), has_gaps=True)
    yield replace(_numbered(8, "portfolio", "Pages that only their ids open"), hides_pages=True)
    yield replace(_numbered(9, "wide", "Scopes without target ids: everything is covered", 2), covers_all=True)
    needed = ("whatsapp_business_messaging", "pages_messaging", "instagram_manage_messages")
    yield replace(_numbered(10, "half", "Never gives the permissions that messages need"), declines=needed)
    fresh = _numbered(11, "fresh", "A number that must be registered first")
    yield _with_number(fresh, status="PENDING", platform="NOT_APPLICABLE")
    pinned = _numbered(12, "pinned", "A number to register whose PIN somebody else has set")
    yield _with_number(pinned, status="DISCONNECTED", platform="NOT_APPLICABLE", pin="000000x")
    rejected = _numbered(13, "rejected", "A business account that did not pass review, no Pages", pages=0)
    yield replace(rejected, businesses=(replace(rejected.businesses[0], review="REJECTED"),))
    for position, key, what in (
        (14, "phone", "A number in the Business app that stays there, with contacts and chats to bring over"),
        (15, "private", "A number in the Business app whose owner does not share the chats"),
    ):
        yield _with_number(_numbered(position, key, what), is_on_biz_app=True, platform="NOT_APPLICABLE")
    demo = _numbered(50, "demo", "Has the number of the demo workspace, which is connected from the start", pages=0)
    yield _with_number(demo, shown="+1 555 0100", name="Demo number")
    yield from _faulty()


def _faulty() -> Iterable[Person]:
    """Give the people with whom one kind of call goes wrong."""
    rows = (
        ("spent", "The code was used before", "exchange", "code_used"),
        ("late", "The code has expired", "exchange", "code_expired"),
        ("lost", "The code is taken, and no answer comes", "exchange", "accept_then_hang"),
        ("lapsed", "The token is no longer valid once it is looked at", "debug_token", "invalid"),
        ("revoked", "The token dies before the accounts are listed", "list", "password_changed"),
        ("leaver", "The token dies between choosing and subscribing", "subscribe", "app_removed"),
        ("refused", "The subscription is refused", "subscribe", "permission_missing"),
        ("deaf", "The subscription answers success: false", "subscribe", "success_false"),
        ("forbidden", "Listing is refused", "list", "permission_denied"),
        ("busy", "Listing is throttled for minutes", "list", "throttled_for_long"),
        ("slow", "Listing hangs", "list", "hang"),
        ("away", "Listing answers 503", "list", "503"),
        ("html", "Listing answers with an HTML page", "list", "html"),
    )
    for position, (key, what, call, fault) in enumerate(rows, start=20):
        yield replace(_numbered(position, key, what), faults=(Fault(call=call, kind=fault),))
    hiccup = Fault(call="list", kind="app_throttled", every=2)
    yield replace(_numbered(40, "hiccup", "Every other listing call is throttled"), faults=(hiccup,))


PEOPLE: Final[dict[str, Person]] = {person.key: person for person in _everybody()}
