"""The pages that create, copy and publish an automation, and change its settings."""

from collections.abc import Mapping
from typing import Final

from django import forms
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import path, reverse
from django.utils import timezone
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.pages.forms import ConfirmationForm, LineField
from workspaces.automations.dashboard.automations import LIST, ONE, AutomationDetail
from workspaces.automations.dashboard.editor import EDIT, EditorPage
from workspaces.automations.flows.differences import differences
from workspaces.automations.flows.registry import TRIGGERS
from workspaces.automations.models import Automation
from workspaces.automations.services.drafts import LONGEST_NAME
from workspaces.automations.services.editing import (
    MOST_REENTRY_DAYS,
    begin_automation,
    change_automation,
    copy_automation,
    publish_seen,
)
from workspaces.automations.services.errors import FlowRefused
from workspaces.subaccounts.dashboard.base import DashboardForm
from workspaces.subaccounts.models import CHANNEL_NAMES, Channel, Workspace

PUBLISH: Final = "app:automation-publish"


class AutomationPublish(EditorPage, DashboardForm[ConfirmationForm]):
    """Shows what publishing the draft changes, and publishes it."""

    template_name = "automations/editor/publish.html"
    keeps_form_data = False

    def make_form(self, data: Mapping[str, object] | None = None) -> ConfirmationForm:
        return ConfirmationForm(data)

    def save(self, form: ConfirmationForm) -> HttpResponse:
        try:
            automation = publish_seen(automation=self.automation, seen=self.seen, now=timezone.now(), by=self.by)
        except FlowRefused as error:
            form.add_error(None, _("You cannot publish it yet. Check what is missing."))
            if not self.reader.problems:
                form.add_error(None, _(error.message))
            return self.show(form, status=422)
        message = _("Version %(number)s is published.") % {"number": automation.published_version}
        return self.done(message, ONE, automation.uuid)

    def context(self) -> dict[str, object]:
        automation, reader = self.automation, self.reader
        published = automation.published.flow if automation.published else None
        return {
            "automation": automation,
            "seen": self.seen,
            "edit_url": self.edit_url(),
            "differences": differences(published, automation.draft, self.inputs.name_of),
            "is_first": published is None,
            "problem_count": reader.problem_count,
            "problems": [sentence for sentences in reader.problems.values() for sentence in sentences],
        }


class NewAutomationForm(forms.Form):
    """The name, the channel and the start of a new automation."""

    name = LineField(label=gettext_lazy("Name"), max_length=LONGEST_NAME)

    def __init__(self, data: Mapping[str, object] | None = None, *, workspace: Workspace) -> None:
        super().__init__(data)
        offered = [one for one in TRIGGERS.values() if not one.unavailable]
        self.fields["platform"] = forms.ChoiceField(label=_("Channel"), choices=platform_choices(workspace))
        channels = " ".join(f"{one.name}:{','.join(one.channels)}" for one in offered)
        self.fields["trigger"] = forms.ChoiceField(
            label=_("It starts with"),
            choices=[(one.name, _(one.label)) for one in offered],
            initial="keyword",
            widget=forms.Select(attrs={"data-triggers": channels}),
        )


def platform_choices(workspace: Workspace) -> list[tuple[str, str]]:
    """Give the channel types, first those that the workspace has connected."""
    active = set(workspace.channels.filter(status=Channel.Status.ACTIVE).values_list("platform", flat=True))
    return [
        (kind, capfirst(CHANNEL_NAMES[kind])) for kind in sorted(CHANNEL_NAMES, key=lambda kind: kind not in active)
    ]


class AutomationNew(DashboardForm[NewAutomationForm]):
    """Creates an automation from nothing."""

    nav = LIST
    template_name = "automations/editor/new.html"
    creates = True

    def make_form(self, data: Mapping[str, object] | None = None) -> NewAutomationForm:
        return NewAutomationForm(data, workspace=self.workspace)

    def save(self, form: NewAutomationForm) -> HttpResponse:
        automation = begin_automation(workspace=self.workspace, now=timezone.now(), by=self.by, **form.cleaned_data)
        asks = any(one.required for one in TRIGGERS[automation.trigger].fields)
        return redirect("app:automation-trigger" if asks else EDIT, automation.uuid)

    def context(self) -> dict[str, object]:
        crumbs = [(_("Automations"), reverse(LIST))]
        return {"heading": _("New automation"), "submit": _("Create"), "crumbs": crumbs}


class CopyForm(forms.Form):
    """The name and the channel of a copy."""

    def __init__(self, data: Mapping[str, object] | None = None, *, automation: Automation) -> None:
        super().__init__(data)
        name = (_("Copy of %(name)s") % {"name": automation.name})[:LONGEST_NAME]
        choices = platform_choices(automation.workspace)
        self.fields["name"] = LineField(label=_("Name"), max_length=LONGEST_NAME, initial=name)
        self.fields["platform"] = forms.ChoiceField(label=_("Channel"), choices=choices, initial=automation.platform)


class AutomationCopy(AutomationDetail, DashboardForm[CopyForm]):
    """Copies an automation within the workspace, also for another channel."""

    template_name = "pages/dashboard/form.html"
    creates = True

    def make_form(self, data: Mapping[str, object] | None = None) -> CopyForm:
        return CopyForm(data, automation=self.automation)

    def save(self, form: CopyForm) -> HttpResponse:
        copied = copy_automation(automation=self.automation, now=timezone.now(), by=self.by, **form.cleaned_data)
        return self.done(_("Copied. The copy is off until you switch it on."), EDIT, copied.uuid)

    def context(self) -> dict[str, object]:
        one = reverse(ONE, args=[self.automation.uuid])
        return {
            "heading": _("Copy %(name)s") % {"name": self.automation.name},
            "text": _("If a channel cannot do a step, the copy says so at that step."),
            "submit": _("Copy"),
            "crumbs": [(_("Automations"), reverse(LIST)), (self.automation.name, one)],
        }


class SettingsForm(forms.Form):
    """What can be changed beside the flow."""

    def __init__(self, data: Mapping[str, object] | None = None, *, automation: Automation) -> None:
        super().__init__(data)
        self.fields["name"] = LineField(label=_("Name"), max_length=LONGEST_NAME, initial=automation.name)
        self.fields["reentry"] = forms.ChoiceField(
            label=_("How often for each contact"),
            choices=Automation.Reentry.choices,
            initial=automation.reentry,
            widget=forms.RadioSelect,
        )
        self.fields["reentry_days"] = forms.IntegerField(
            label=_("Days"),
            required=False,
            min_value=1,
            max_value=MOST_REENTRY_DAYS,
            initial=automation.reentry_days or None,
            help_text=_("Only for “Again after some days”: days since it started the last time."),
        )
        self.fields["stops_on_reply"] = forms.BooleanField(
            label=_("A reply ends the wait"),
            required=False,
            initial=automation.stops_on_reply,
            help_text=_("If the contact writes while the automation waits for a moment, it ends for this contact."),
        )
        self.fields["stops_on_booking"] = forms.BooleanField(
            label=_("A booking ends it"),
            required=False,
            initial=automation.stops_on_booking,
            help_text=_("If the contact books an appointment in another way, the automation ends for this contact."),
        )


class AutomationSettings(AutomationDetail, DashboardForm[SettingsForm]):
    """Changes the name of an automation, how often it runs for a contact, and what ends it."""

    template_name = "pages/dashboard/form.html"

    def make_form(self, data: Mapping[str, object] | None = None) -> SettingsForm:
        return SettingsForm(data, automation=self.automation)

    def save(self, form: SettingsForm) -> HttpResponse:
        values = form.cleaned_data
        change_automation(
            automation=self.automation,
            name=values["name"],
            reentry=values["reentry"],
            reentry_days=values["reentry_days"] or 0,
            stops_on_reply=values["stops_on_reply"],
            stops_on_booking=values["stops_on_booking"],
            now=timezone.now(),
            by=self.by,
        )
        return self.done(_("Saved."), ONE, self.automation.uuid)

    def context(self) -> dict[str, object]:
        one = reverse(ONE, args=[self.automation.uuid])
        return {
            "heading": _("Settings of %(name)s") % {"name": self.automation.name},
            "submit": _("Save"),
            "crumbs": [(_("Automations"), reverse(LIST)), (self.automation.name, one)],
        }


urlpatterns = [
    path("automations/<id:uuid>/settings", AutomationSettings.as_view(), name="automation-settings"),
    path("automations/new", AutomationNew.as_view(), name="automation-new"),
    path("automations/<id:uuid>/copy", AutomationCopy.as_view(), name="automation-copy"),
    path("automations/<id:uuid>/publish", AutomationPublish.as_view(), name="automation-publish"),
]
