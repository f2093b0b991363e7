"""Base views and forms of the console's pages about packs, and the reading of a posted order."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.console.base import ConsoleView, breadcrumb
from agency.pages.forms import LineField, MultilineField, NameField
from config.api.requests import parse_uuid
from packs.library import Industry
from packs.models import Pack, PackEntry
from packs.services import find_pack, has_replace_setting
from packs.services.queries import EntryView
from workspaces.automations.flows.presentation import translated_step_title
from workspaces.automations.flows.types import REQUIREMENTS
from workspaces.subaccounts.models import CHANNEL_NAMES
from workspaces.subaccounts.models.workspaces import BusinessType

PACKS = gettext_lazy("Packs")
LIST = "console:packs"
PACK = "console:pack"
LIBRARY = "console:pack-library"


def translated_slots(slots: Sequence[Mapping[str, str]]) -> list[tuple[str, str]]:
    """Give the step and the label of each slot in the page's language."""
    return [(translated_step_title(slot["step"]), _(slot["label"])) for slot in slots]


class PackConsoleView(ConsoleView):
    """A page about packs."""

    nav = LIST


class PackDetailView(PackConsoleView):
    """A page about one pack of the agency. Malformed, unknown and foreign ids get the same answer."""

    pack: Pack

    def find(self, **ids: UUID | None) -> None:
        self.pack = find_pack(agency=self.agency, uuid=ids["uuid"])
        self.name = self.pack.name

    def crumbs(self) -> list[Any]:
        return [breadcrumb(PACKS, LIST), breadcrumb(self.name, PACK, self.pack.uuid)]

    def platform_packs_warning(self) -> str:
        """Warn if hiding this pack shows the service's own packs again, else return ""."""
        others = Pack.objects.of(self.agency).published().exclude(pk=self.pack.pk)
        is_published = self.pack.status == Pack.Status.PUBLISHED
        if not is_published or others.exists() or not has_replace_setting(self.agency.pk):
            return ""
        return _("This is your only published pack. Without it, customers see the service's own packs again.")

    def saved(self, message: str) -> HttpResponse:
        return self.done(message % {"name": self.pack.name}, PACK, self.pack.uuid)


def posted_order(request: HttpRequest) -> list[UUID]:
    """Return the order that a list's form sends: the ids in `order`, with the id in `up` or `down` moved by one."""
    order = [found for one in request.POST.get("order", "").split(",") if (found := parse_uuid(one))]
    order = list(dict.fromkeys(order))
    for name, step in (("up", -1), ("down", 1)):
        moved = parse_uuid(request.POST.get(name, ""))
        if moved in order:
            at = order.index(moved)
            to = min(max(at + step, 0), len(order) - 1)
            order[at], order[to] = order[to], order[at]
    return order


def redirect_to_moved(request: HttpRequest, to: str, *args: object) -> HttpResponse:
    """Redirect to the list, at the row that was moved."""
    moved = parse_uuid(request.POST.get("up", "") or request.POST.get("down", ""))
    return redirect(reverse(to, args=args) + (f"#row-{moved}" if moved else ""))


def channel_names(kinds: Sequence[str]) -> str:
    return ", ".join(CHANNEL_NAMES[kind] for kind in kinds)


LONGEST_SUMMARY = 300
LONGEST_DESCRIPTION = 500


class PackForm(forms.Form):
    """A pack's name, summary and target group."""

    name = NameField()
    summary = MultilineField(
        label=gettext_lazy("Summary"),
        required=False,
        max_length=LONGEST_SUMMARY,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=gettext_lazy("One or two sentences that customers read in their gallery."),
    )
    industry = forms.ChoiceField(
        label=gettext_lazy("Industry"), required=False, choices=[("", gettext_lazy("None")), *Industry.choices],
        help_text=gettext_lazy("A label on the pack's card."),
    )  # fmt: skip
    business_type = forms.ChoiceField(
        label=gettext_lazy("Given to new customers of this business type"),
        required=False,
        choices=[("", gettext_lazy("Nobody")), *BusinessType.choices],
        help_text=gettext_lazy(
            "They get the published pack when they connect their first messaging channel. "
            "If several packs are for one type, they get the one that is highest in the gallery."
        ),
    )

    def changes(self) -> dict[str, Any]:
        """Return the values for the services. Empty values become None."""
        given = self.cleaned_data
        return {"name": given["name"], **{name: given[name] or None for name in given if name != "name"}}


def pack_values(pack: Pack) -> dict[str, Any]:
    return {name: getattr(pack, name) for name in ("name", "summary", "industry", "business_type")}


def requirement_choices() -> list[tuple[str, str]]:
    return [(name, capfirst(_(label))) for name, label in REQUIREMENTS.items()]


class EntryForm(forms.Form):
    """An automation of a pack. An empty name or description restores the original."""

    name = LineField(label=gettext_lazy("Name"), max_length=120, required=False)
    description = MultilineField(
        label=gettext_lazy("Description"),
        max_length=LONGEST_DESCRIPTION,
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=gettext_lazy("Leave it empty for the original description."),
    )
    tier = forms.ChoiceField(label=gettext_lazy("Tier"), choices=PackEntry.Tier.choices, widget=forms.RadioSelect)
    requires = forms.MultipleChoiceField(
        label=gettext_lazy("What a customer must have before it can be switched on"),
        required=False,
        choices=requirement_choices,
        widget=forms.CheckboxSelectMultiple,
    )

    def __init__(self, *args: Any, entry: EntryView, **options: Any) -> None:
        held = {name: getattr(entry, name) for name in ("name", "tier", "requires")}
        options["initial"] = {**held, "description": entry.description}
        super().__init__(*args, **options)
        self.entry = entry
        if entry.library_name:
            self.fields["name"].help_text = gettext_lazy("Leave it empty for the library's name: %(name)s") % {
                "name": entry.library_name
            }
        else:
            self.fields["name"].required = True

    def changes(self) -> dict[str, Any]:
        """Return the values that differ from those shown, so that unchanged originals do not become overrides."""
        given = self.cleaned_data
        shown = {name: self.initial[name] for name in given}
        return {name: value for name, value in given.items() if value != shown[name]}
