"""The pages that are shown in the README and the guides, and watched for changes that nobody intended."""

from collections.abc import Callable
from typing import Final, NamedTuple

from django.urls import reverse

from tests.flows.screenshots.business import BusyTenant


class Shown(NamedTuple):
    """A page by the name of its pictures; `area` says who looks at it."""

    name: str
    area: str
    address: Callable[[BusyTenant], str]


PAGES: Final = (
    Shown("sign-in", "nobody", lambda _: reverse("account:sign-in")),
    Shown("console-home", "console", lambda _: reverse("console:home")),
    Shown("console-sub-accounts", "console", lambda _: reverse("console:sub-accounts")),
    Shown("console-sub-account", "console", lambda of: reverse("console:sub-account", args=[of.customer.uuid])),
    Shown("console-webhook", "console", lambda of: reverse("console:webhook", args=[of.endpoint.uuid])),
    Shown("console-pack", "console", lambda of: reverse("console:pack", args=[of.bookings.uuid])),
    Shown("dashboard-home", "app", lambda _: reverse("app:home")),
    Shown("dashboard-inbox", "app", lambda of: reverse("app:conversation", args=[of.conversation.uuid])),
    Shown("dashboard-contacts", "app", lambda _: reverse("app:contacts")),
    Shown("dashboard-automation", "app", lambda of: reverse("app:automation", args=[of.automation.uuid])),
    Shown("dashboard-broadcast", "app", lambda of: reverse("app:broadcast", args=[of.broadcast.uuid])),
)
