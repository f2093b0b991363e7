"""Every page that is looked at, by its name in the record, in one list for each test that opens them."""

from typing import Final

from tests.flows.every_page.routes import ANONYMOUS, pages_in

CONSOLE: Final = pages_in("console")
# The frame of an area is the same around all of its pages; the apps' hooks declare what its menus hold.
FRAMES: Final = ("console (frame)", "app (frame)")
FRAME_OF_CONSOLE: Final = (FRAMES[0], "console:webhooks (sparkline)", "app:people (opened by the agency)")
DASHBOARD: Final = pages_in("app")
FRAME_OF_DASHBOARD: Final = FRAMES[1]
# Pages that need no sign-in.
STRANGERS: Final = (
    *ANONYMOUS,
    "account (unknown address)",
    "account:set-password (link that ended)",
    "account:set-password",
)
ACCOUNT: Final = pages_in("account")
# Of somebody who is nowhere a member, and signs in with a code.
NEWCOMERS: Final = (
    "console:home (no agency)",
    "app:home (no workspace)",
    "connect:landing (unknown link)",
    "account:two-factor-set-up",
    "account:security (with two-factor)",
    "account:recovery-codes",
    "account:two-factor-off",
    "account:code",
    "account:recovery-code",
)
SIGN_UP: Final = ("sign-up:form", "sign-up:sent", "sign-up:confirm (link that ended)", "sign-up:confirm")
BOOKING: Final = (
    "book:services (unknown link)",
    "book:services",
    "book:times",
    "book:details",
    "book:code",
    "book:deposit",
    "book:manage",
    "book:move-times",
    "book:move",
    "book:cancel",
    "book:classes",
    "book:class",
    "book:seat",
    "book:give-back",
)
REFERENCE: Final = ("reference:workspace", "reference:agency")
EVERY_PAGE: Final = (
    *CONSOLE,
    *FRAME_OF_CONSOLE,
    *DASHBOARD,
    FRAME_OF_DASHBOARD,
    *STRANGERS,
    *ACCOUNT,
    *NEWCOMERS,
    *SIGN_UP,
    *BOOKING,
    *REFERENCE,
)
