"""A page that shows every part of the consoles' design, for the people who work on it."""

import re
from pathlib import Path
from typing import Any, Final

from django import forms
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from agency.console.views.base import ConsoleView
from agency.pages.forms.fields import MultilineField, NameField
from agency.pages.lists import Pages, read_size
from agency.pages.tables import Column, Filter, ListPage, Table

STYLES: Final = settings.BASE_DIR / "templates/static/console"
TOKEN: Final = re.compile(r"^  --([\w-]+): (.+);$", re.MULTILINE)
COLOUR: Final = re.compile(r"#|light-dark\(#|var\(")
SYMBOL: Final = re.compile(r'<symbol id="([\w-]+)"')
THEMES: Final = ("in-light", "in-dark")
CHOICES: Final = (("one", _("The first")), ("other", _("The other")))


class SampleForm(forms.Form):
    """A sample of each kind of field."""

    name = NameField(help_text=_("What a field is for stands above it."))
    text = MultilineField(label=_("Text"), required=False, widget=forms.Textarea(attrs={"rows": 2}))
    plan = forms.ChoiceField(label=_("Plan"), choices=CHOICES)
    way = forms.ChoiceField(label=_("Way"), choices=CHOICES, widget=forms.RadioSelect)
    agreed = forms.BooleanField(label=_("Agreed"), help_text=_("A single yes or no."))


def tokens() -> dict[str, dict[str, str]]:
    """Return the design's tokens by kind, each with the first value that the stylesheet declares."""
    css = (Path(STYLES) / "tokens.css").read_text()
    found: dict[str, str] = {}
    for name, value in TOKEN.findall(css):
        found.setdefault(name, value)
    kinds = {"space": "space-", "radius": "round", "text": "text-"}
    others = {
        kind: {name: value for name, value in found.items() if name.startswith(beginning)}
        for kind, beginning in kinds.items()
    }
    colours = {name: value for name, value in found.items() if COLOUR.match(value)}
    return {"colours": colours, **others}


class DesignPage(ListPage, ConsoleView):
    """Shows the tokens and components that exist, so that new pages are made from them."""

    nav = "console:design"
    table = Table(
        caption=_("Sample"),
        columns=(
            Column(name="name", label=_("Name"), order=("name", "id")),
            Column(name="state", label=_("State")),
            Column(name="number", label=_("Number"), order=("number", "id"), is_number=True),
            Column(name="created", label=_("Created"), order=("created", "id"), descends_first=True),
        ),
        filters=(
            Filter(name="search", label=_("Search"), placeholder=_("Name")),
            Filter(name="state", label=_("State"), is_choice=True, choices=CHOICES),
        ),
        sort="-created",
    )

    def get(self, request: HttpRequest) -> HttpResponse:
        if settings.PRODUCTION:
            raise Http404
        names = [("Corner Salon", "good", 1_204), ("Belle & Co.", "bad", 7), ("Nord Café", "", 58_000)]
        rows = [{"name": name, "state": state, "number": number, "at": timezone.now()} for name, state, number in names]
        state = self.read_table().show(rows, Pages(1, 10_000, read_size(request), is_capped=True))
        return self.list_page("agency/design/page.html", state, **self.parts())

    def parts(self) -> dict[str, Any]:
        wrong = SampleForm({"name": "", "plan": "one"}, auto_id="wrong_%s")
        return {
            "tokens": tokens(),
            "themes": THEMES,
            "form": SampleForm(initial={"way": "one"}),
            "wrong": wrong,
            "icons_there_are": SYMBOL.findall((Path(STYLES) / "icons.svg").read_text()),
            "shares": [("good", 0, 620), ("series-1", 620, 260), ("danger", 880, 120)],
        }
