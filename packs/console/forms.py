"""The console's forms of packs and their automations."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from agency.pages.forms import LineField, MultilineField, NameField
from packs.library import Industry
from packs.models import Pack, PackEntry
from packs.services.queries import EntryView
from workspaces.automations.flows.requirements import REQUIREMENTS
from workspaces.subaccounts.models.workspaces import BusinessType

LONGEST_SUMMARY = 300
LONGEST_DESCRIPTION = 500


class PackForm(forms.Form):
    """A pack's name, summary and target group."""

    name = NameField()
    summary = MultilineField(
        label=_("Summary"),
        required=False,
        max_length=LONGEST_SUMMARY,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=_("A sentence or two that customers read in their gallery."),
    )
    industry = forms.ChoiceField(
        label=_("Industry"), required=False, choices=[("", _("None")), *Industry.choices],
        help_text=_("A label on the pack's card."),
    )  # fmt: skip
    business_type = forms.ChoiceField(
        label=_("Given to new customers of this business type"),
        required=False,
        choices=[("", _("Nobody")), *BusinessType.choices],
        help_text=_(
            "They get the published pack when their first messaging channel is connected. "
            "Of several packs for one type, the highest in the gallery is given."
        ),
    )

    def changes(self) -> dict[str, Any]:
        """Return the values for the services. Empty values become None."""
        given = self.cleaned_data
        return {"name": given["name"], **{name: given[name] or None for name in given if name != "name"}}


def pack_values(pack: Pack) -> dict[str, Any]:
    return {name: getattr(pack, name) for name in ("name", "summary", "industry", "business_type")}


class EntryForm(forms.Form):
    """An automation of a pack. An empty name or description restores the original."""

    name = LineField(label=_("Name"), max_length=120, required=False)
    description = MultilineField(
        label=_("Description"),
        max_length=LONGEST_DESCRIPTION,
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("Leave it empty for the original description."),
    )
    tier = forms.ChoiceField(label=_("Tier"), choices=PackEntry.Tier.choices, widget=forms.RadioSelect)
    requires = forms.MultipleChoiceField(
        label=_("What a customer must have before it can be switched on"),
        required=False,
        choices=[(name, label[:1].upper() + label[1:]) for name, label in REQUIREMENTS.items()],
        widget=forms.CheckboxSelectMultiple,
    )

    def __init__(self, *args: Any, entry: EntryView, **options: Any) -> None:
        held = {name: getattr(entry, name) for name in ("name", "tier", "requires")}
        options["initial"] = {**held, "description": entry.description}
        super().__init__(*args, **options)
        self.entry = entry
        if entry.library_name:
            self.fields["name"].help_text = _("Leave it empty for the library's name: %(name)s") % {
                "name": entry.library_name
            }
        else:
            self.fields["name"].required = True

    def changes(self) -> dict[str, Any]:
        """Return the values that differ from those shown, so that unchanged originals do not become overrides."""
        given = self.cleaned_data
        shown = {name: self.initial[name] for name in given}
        return {name: value for name, value in given.items() if value != shown[name]}
