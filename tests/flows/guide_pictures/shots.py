"""What each guide's picture shows: a part of a page, with the numbers of the guide's steps at what they speak of."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from django.urls import reverse
from playwright.sync_api import Page

from tests.flows.guide_pictures.business import SmallTenant

Step = Callable[[Page, SmallTenant], object]
NARROW: Final = 520
EDGE: Final = 20
OF_SUPPORT: Final = 720


@dataclass(frozen=True, slots=True, kw_only=True)
class Shot:
    """A picture: where it is taken, what is done before, what it shows, and where the numbers of steps stand.

    `shows` are selectors: the picture is the smallest that holds all that they find, with an edge, and at most `most`
    pixels high.
    """

    address: Callable[[SmallTenant], str]
    shows: tuple[str, ...]
    steps: Mapping[str, str]
    before: Step = field(default=lambda page, of: None)
    most: int = 720
    below: int = EDGE
    width: int = NARROW
    height: int = 1600


def _to(name: str) -> Callable[[SmallTenant], str]:
    return lambda of: reverse(name)


def _fill(**values: str) -> Step:
    """Fill fields by their names; `words.x` is a word of the picture's language."""

    def fill(page: Page, of: SmallTenant) -> None:
        for name, value in values.items():
            text = getattr(of.words, value.removeprefix("words.")) if value.startswith("words.") else value
            field = page.locator(f"[name={name}] >> nth=0")
            field.fill(text)
            field.blur()

    return fill


def _select(*selectors: str) -> Step:
    def select(page: Page, of: SmallTenant) -> None:
        for one in selectors:
            page.locator(one).check()

    return select


def _field(name: str) -> str:
    return f"main .field:has([name={name}])"


def _ask_for_saved_replies(page: Page, of: SmallTenant) -> None:
    page.locator("#composer-text").press_sequentially("/")
    page.locator(".composer [role=listbox]").wait_for()


FORM: Final = "main form.panel"
HEAD: Final = "main .page-head"

CONSOLE: Final = {
    "first-steps": Shot(
        address=_to("console:home"),
        shows=(".panel-head:has(#first-steps)", ".panel:has(#first-steps) li:nth-child(5)"),
        steps={
            "1": ".panel:has(#first-steps) li:nth-child(1)",
            "2": ".panel:has(#first-steps) li:nth-child(4)",
            "3": ".panel:has(#first-steps) li:nth-child(2)",
            "4": ".panel:has(#first-steps) li:nth-child(5)",
        },
        below=8,
    ),
    "sub-accounts": Shot(
        address=lambda of: reverse("console:sub-account", args=[of.customer.uuid]),
        shows=(HEAD, ".panel:has(#limits)"),
        steps={"2": ".panel:has(#limits)", "3": "main .actions .primary"},
    ),
    "plans": Shot(
        address=_to("console:plan-new"),
        shows=(_field("name"), _field("limit_team_members")),
        before=_fill(name="Plus", limit_contacts="5000", limit_team_members="5"),
        steps={"1": _field("limit_contacts")},
        below=4,
    ),
    "packs": Shot(
        address=lambda of: reverse("console:pack", args=[of.pack.uuid]),
        shows=(HEAD, "main .entry > p >> nth=0"),
        below=8,
        steps={"1": "main a[href$='/library']", "3": "main .actions .primary"},
    ),
    "channel-connect": Shot(
        address=lambda of: reverse("console:channel-connect-start-for", args=[of.customer.uuid]),
        shows=(f"{FORM} p", _field("return_url")),
        steps={"2": f"{FORM} fieldset"},
    ),
    "team": Shot(address=_to("console:team-invite"), shows=(FORM,), steps={"1": "#id_role"}),
    "api-keys": Shot(
        address=_to("console:api-key-new"),
        shows=(_field("name"), f"{FORM} .check >> nth=1"),
        before=_fill(name="words.website"),
        steps={"1": _field("name")},
    ),
    "webhooks": Shot(
        address=_to("console:webhook-new"),
        below=4,
        shows=(_field("url"), f"{FORM} .choice >> nth=2"),
        before=_fill(url="https://app.example.com/webhook"),
        steps={"1": _field("url")},
    ),
    "brand": Shot(
        address=_to("console:brand"),
        shows=(".panel:has(input[type=color])", ".panel:has(.in-dark)"),
        steps={"1": ".panel:has(input[type=color])"},
        width=640,
    ),
    "mail": Shot(
        address=_to("console:mail"),
        shows=(".panel:has(#sender)", ".panel:has(#test)"),
        steps={
            "1": ".panel-head:has(#sender) a",
            "2": ".panel-head:has(#server) a",
            "3": ".panel-head:has(#test) button.button",
        },
    ),
    "activity": Shot(
        address=_to("console:sub-accounts"),
        shows=("tbody tr:nth-child(2)", "#bulk"),
        before=_select("tbody tr:nth-child(2) input[type=checkbox]", "tbody tr:nth-child(3) input[type=checkbox]"),
        steps={"2": "#bulk-action"},
    ),
    "security": Shot(
        address=_to("console:team-two-factor"),
        shows=(FORM,),
        before=_select("[value=owner]", "[value=admin]"),
        steps={"3": f"{FORM} fieldset"},
    ),
}

DASHBOARD: Final = {
    "first-steps": Shot(
        address=_to("app:home"),
        shows=(".panel-head:has(#first-steps)", ".panel:has(#first-steps) li:nth-child(5)"),
        steps={
            "1": ".panel:has(#first-steps) li:nth-child(2)",
            "2": ".panel:has(#first-steps) li:nth-child(1)",
            "3": ".panel:has(#first-steps) li:nth-child(3)",
            "4": ".panel:has(#first-steps) li:nth-child(5)",
        },
        below=8,
    ),
    "inbox": Shot(
        address=lambda of: reverse("app:conversation", args=[of.conversation.uuid]),
        shows=(".thread-head", ".composer"),
        steps={"1": "[data-part=text] [data-send]", "2": "[data-assign]", "3": "[data-status] button"},
        height=460,
    ),
    "saved-replies": Shot(
        address=lambda of: reverse("app:conversation", args=[of.conversation.uuid]),
        shows=(".composer", ".composer [role=listbox]"),
        before=_ask_for_saved_replies,
        steps={"2": ".composer [role=listbox]", "3": "[data-part=text] [data-send]"},
    ),
    "contacts": Shot(
        address=lambda of: reverse("app:segment", args=[of.segment.uuid]),
        shows=(FORM,),
        steps={"2": f"{FORM} .buttons:last-child .primary"},
    ),
    "import": Shot(
        address=lambda of: reverse("app:contact-import", args=[of.contact_import.uuid]),
        shows=("main form.panel fieldset.group",),
        steps={"2": "main form.panel fieldset.group select >> nth=0"},
    ),
    "automations": Shot(
        address=lambda of: reverse("app:automation", args=[of.automation.uuid]),
        shows=(HEAD, "main .panel >> nth=1"),
        steps={"2": "main .panel >> nth=0", "3": "main .actions .primary"},
    ),
    "broadcasts": Shot(
        address=lambda of: reverse("app:broadcast-edit", args=[of.broadcast.uuid]),
        shows=("main h2 >> nth=0", _field("message_text")),
        steps={"1": _field("channel")},
    ),
    "services": Shot(
        address=lambda of: reverse("app:service", args=[of.treatment.uuid]),
        shows=(_field("name"), "#id_staff"),
        steps={"2": "#id_staff"},
    ),
    "classes": Shot(
        address=lambda of: reverse("app:class", args=[of.course.uuid]),
        shows=(HEAD, ".panel:has(#add)"),
        steps={"3": ".panel:has(#add) .field"},
    ),
    "booking-page": Shot(
        address=_to("app:booking-page"),
        shows=(f"{FORM} .check >> nth=0", _field("introduction")),
        before=_select("main [type=checkbox] >> nth=0"),
        steps={"1": f"{FORM} .check >> nth=0"},
    ),
    "products": Shot(
        address=lambda of: reverse("app:product", args=[of.product.uuid]),
        shows=(FORM,),
        before=_select("[name=track_stock]"),
        steps={"1": _field("name"), "2": "main .field.check:has([name=track_stock])"},
    ),
    "invoices": Shot(
        address=lambda of: reverse("app:invoice", args=[of.invoice.uuid]),
        shows=(HEAD, "main .panel >> nth=0"),
        steps={"2": "main .actions .primary"},
    ),
    "people": Shot(address=_to("app:person-invite"), shows=(FORM,), steps={"1": f"{FORM} .primary"}),
    "channels": Shot(address=_to("app:channels"), shows=("main .table",), steps={"3": "main .table .badge"}),
    "api": Shot(
        address=_to("app:api-key-new"),
        shows=(_field("name"), _field("allowed_networks")),
        before=_fill(name="words.website"),
        steps={"1": _field("name")},
        below=8,
    ),
}

SUPPORT: Final = {
    "finding": Shot(
        address=lambda of: f"{reverse('admin:agency_agency_find')}?q={of.customer.name.partition(' ')[0]}",
        shows=("#content",),
        steps={"1": "#q", "3": "#content .module a >> nth=0"},
        width=OF_SUPPORT,
    ),
    "suspending": Shot(
        address=lambda of: reverse("admin:agency_agency_suspend", args=[of.agency.pk]),
        shows=("#content",),
        before=_fill(reason="Unpaid invoices"),
        steps={"2": "#content form [name=reason]"},
        width=OF_SUPPORT,
    ),
    "redelivery": Shot(
        address=lambda of: reverse("admin:agency_bulkoperation_change", args=[of.broken_off.pk]),
        shows=("#content",),
        steps={"3": "#content .object-tools form button"},
        most=400,
        width=OF_SUPPORT,
    ),
    "rights": Shot(
        address=lambda of: reverse("admin:agency_user_change", args=[of.staff.pk]),
        shows=("#content",),
        steps={"2": "#content .object-tools form button", "3": "#content .object-tools a[href*=two-factor]"},
        most=400,
        width=OF_SUPPORT,
    ),
}
SHOTS: Final = {"console": CONSOLE, "app": DASHBOARD, "admin": SUPPORT}
