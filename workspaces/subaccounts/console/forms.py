"""Forms of agency staff about a sub-account."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from agency.models import Addon, Plan
from agency.pages.forms import EmailField, LineField, NameField
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.models.workspaces import LONGEST_EXTERNAL_ID
from workspaces.subaccounts.pages.business import BUSINESS_TYPES, ZoneField

if TYPE_CHECKING:
    _ModelChoiceField = forms.ModelChoiceField[Plan]
else:
    _ModelChoiceField = forms.ModelChoiceField

AUTOCOMPLETE_OFF = {"autocomplete": "off"}


class SubAccountForm(forms.Form):
    """The fields that staff may change at any time."""

    name = NameField()
    business_type = forms.ChoiceField(label=_("Business type"), required=False, choices=BUSINESS_TYPES)
    timezone = ZoneField()
    external_id = LineField(
        label=_("External ID"),
        required=False,
        max_length=LONGEST_EXTERNAL_ID,
        widget=forms.TextInput(attrs=AUTOCOMPLETE_OFF | {"spellcheck": "false"}),
        help_text=_("Your own ID for it, such as the number in your CRM."),
    )

    def clean_business_type(self) -> str | None:
        return self.cleaned_data["business_type"] or None


class PlanChoiceField(_ModelChoiceField):
    """A choice of a plan. Its label marks the default plan."""

    def label_from_instance(self, obj: Plan) -> str:
        return gettext("%(plan)s (default)") % {"plan": obj.name} if obj.is_default else obj.name


class NewSubAccountForm(SubAccountForm):
    owner_name = LineField(label=_("Owner's name"), max_length=120, widget=forms.TextInput(attrs=AUTOCOMPLETE_OFF))
    owner_email = EmailField(
        label=_("Owner's e-mail"),
        help_text=_("They get an e-mail with a link, and own the sub-account once they have accepted it."),
    )

    def __init__(self, *args: Any, plans: "QuerySet[Plan]", **options: Any) -> None:
        super().__init__(*args, **options)
        default = plans.filter(is_default=True).first()
        self.fields["plan"] = PlanChoiceField(
            plans,
            to_field_name="uuid",
            label=_("Plan"),
            required=False,
            initial=default,
            empty_label=None if default else _("No plan: nothing is limited"),
        )
        self.order_fields(["name", "owner_name", "owner_email", "plan", "business_type", "timezone", "external_id"])


class OwnerForm(forms.Form):
    name = LineField(label=_("Name"), max_length=120, widget=forms.TextInput(attrs=AUTOCOMPLETE_OFF))
    email = EmailField(help_text=_("A new owner without a password gets a link to set one."))


class PlanForm(forms.Form):
    def __init__(self, *args: Any, plans: "QuerySet[Plan]", **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["plan"] = forms.ModelChoiceField(
            plans, to_field_name="uuid", label=_("Plan"), empty_label=None, widget=forms.RadioSelect
        )


class AddonForm(forms.Form):
    def __init__(self, *args: Any, addons: "QuerySet[Addon]", **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["addon"] = forms.ModelChoiceField(
            addons, to_field_name="uuid", label=_("Add-on"), empty_label=_("Choose an add-on")
        )


def initial_values(workspace: Workspace) -> dict[str, str]:
    return {
        "name": workspace.name,
        "business_type": workspace.business_type or "",
        "timezone": workspace.timezone,
        "external_id": workspace.external_id or "",
    }
