"""The composer's form. It turns a broadcast into fields, and the typed fields into the services' arguments."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID
from zoneinfo import ZoneInfo

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from agency.pages.forms import LineField, MultilineField, NaiveDateTimeField, NameField
from agency.pages.registry import StrOrPromise
from broadcasts.content import variables_in
from broadcasts.dashboard.recipients import find_contacts
from broadcasts.models import Broadcast
from broadcasts.pages.labels import ENGAGEMENT_LABELS, variable_label
from broadcasts.pages.message_preview import (
    MessagePreview,
    TemplateParameter,
    message_of,
    message_of_variables,
    parameters_of,
    preview_with,
    template_of,
    templates_of,
    values_of,
)
from broadcasts.services.editing import BroadcastFields
from broadcasts.services.fields import CONTACT
from broadcasts.services.message_fields import LONGEST_FALLBACK
from channelconnect.models import MessageTemplate
from channelconnect.services.template_checks import BREAKS, NO_BREAKS
from config.api.requests import parse_uuid
from workspaces.contacts.models import Contact, Segment
from workspaces.subaccounts.models import CHANNEL_NAMES, Channel, Workspace

WITH_TEMPLATES: Final = "whatsapp"
PLATFORMS: Final = ("whatsapp", "facebook", "instagram")
LONGEST_TEXT: Final = 4_096
LONGEST_PARAMETER: Final = 1_024
LONGEST_CONTACTS: Final = 400_000
MOST_CHANNELS: Final = 200
MOST_SEGMENTS: Final = 500
MOST_SOURCES: Final = 200
NOW, AT, LOCAL = "now", "at", "local"
ALL, SEGMENT, CONTACTS, RETARGET = "all", "segment", "contacts", "retarget"
AUDIENCE: Final = (
    "audience", "audience_segment", "audience_contacts", "source_broadcast_id", "retarget_engagement",
)  # fmt: skip
TIME: Final = ("time", "scheduled_at", "scheduled_local_at")
FALLBACK: Final = "fallback."
# The variables whose fallbacks can always be given. Others can once the message names them.
ALWAYS_OFFERED: Final = tuple(f"contact.{name}" for name in CONTACT)
MOST_FALLBACKS: Final = 26
INPUT: Final = "%Y-%m-%dT%H:%M"
OWN_TEXT: Final = ("", _("A text of my own"))
TEMPLATES_REACH_ALL: Final = _(
    "A template reaches everybody; a text of your own reaches only those who wrote to you within the last 24 hours."
)
# The services report errors under the API's field names. This maps them to the form's fields.
FIELDS: Final = {
    "audience": "audience_contacts",
    "message": "message_text",
    "message.template": "template",
    "message.language": "template",
}


def moment_field(label: Any) -> forms.DateTimeField:
    return NaiveDateTimeField(label=label, required=False)


class ComposerForm(forms.Form):
    """A whole broadcast on one page.

    Each gap of a template is a field of the form, named `parameter_N`. So is the fallback of each variable, named
    `fallback.` and the variable.
    """

    name = NameField(help_text=_("Only you see it."))
    channel = forms.ChoiceField(label=_("Channel"))
    template = forms.ChoiceField(label=_("Message"), required=False)
    message_text = MultilineField(
        label=_("Text"),
        required=False,
        max_length=LONGEST_TEXT,
        widget=forms.Textarea({"rows": 6}),
        help_text=_("It reaches only those who wrote to you within the last 24 hours."),
    )
    message_header_filename = LineField(label=_("The document's name"), required=False, max_length=200)
    track_clicks = forms.BooleanField(
        label=_("Count clicks on links"),
        required=False,
        help_text=_("Links become short ones of your host, one for each recipient."),
    )
    audience = forms.ChoiceField(
        label=_("Who gets it"),
        widget=forms.RadioSelect,
        choices=[
            (ALL, _("All contacts")),
            (SEGMENT, _("A segment")),
            (CONTACTS, _("Contacts of my choice")),
            (RETARGET, _("Recipients of an earlier broadcast")),
        ],
    )
    audience_segment = forms.ChoiceField(label=_("Segment"), required=False)
    audience_contacts = MultilineField(
        label=_("Contacts"),
        required=False,
        max_length=LONGEST_CONTACTS,
        widget=forms.Textarea({"rows": 4}),
        help_text=_("Phone numbers or e-mail addresses, each on a line of its own; at most 10,000."),
    )
    source_broadcast_id = forms.ChoiceField(label=_("Earlier broadcast"), required=False)
    retarget_engagement = forms.ChoiceField(
        label=_("Result"), required=False, choices=[("", _("Choose")), *ENGAGEMENT_LABELS.items()]
    )
    time = forms.ChoiceField(
        label=_("When"),
        widget=forms.RadioSelect,
        choices=[
            (NOW, _("Send now")),
            (AT, _("At a moment, the same for everybody")),
            (LOCAL, _("At each contact's own time")),
        ],
    )
    scheduled_at = moment_field(_("Moment"))
    scheduled_local_at = moment_field(_("Time on each contact's clock"))
    requires_approval = forms.BooleanField(
        label=_("Ask for approval first"),
        required=False,
        help_text=_("Nothing is sent until somebody has approved it."),
    )

    def __init__(
        self, data: Mapping[str, object] | None = None, *, workspace: Workspace, initial: dict[str, Any] | None = None
    ) -> None:
        self.workspace, self.zone = workspace, ZoneInfo(workspace.timezone)
        super().__init__(data, initial={**DEFAULTS, **(initial or {})})
        self.channels = _channels_of(workspace)
        self._offer(
            "channel", [(str(one.uuid), f"{one.name} · {CHANNEL_NAMES[one.platform]}") for one in self.channels]
        )
        self.chosen_channel = self._chosen_channel()
        self.templates = templates_of(self.chosen_channel) if self.chosen_channel else []
        self._offer(
            "template", [*((str(one.uuid), f"{one.name} · {one.language}") for one in self.templates), OWN_TEXT]
        )
        if self.templates:
            self.fields["template"].help_text = TEMPLATES_REACH_ALL
            self._choose_first_template()
        segments = Segment.objects.of(workspace).newest_first().values_list("uuid", "name")[:MOST_SEGMENTS]
        self._offer("audience_segment", [("", _("Choose")), *((str(uuid), name) for uuid, name in segments)])
        sources = Broadcast.objects.of(workspace).filter(started_at__isnull=False).newest_first()[:MOST_SOURCES]
        self._offer("source_broadcast_id", [("", _("Choose")), *((str(one.uuid), one.name) for one in sources)])
        self.chosen_template = self._chosen_template()
        self.gaps = parameters_of(self.chosen_template) if self.chosen_template else []
        for gap in self.gaps:
            self.fields[gap.field] = _field_of(gap)
        self.fallbacks = self._named_variables()
        for name in self.fallbacks:
            label = _("Fallback for %(variable)s") % {"variable": variable_label(name)}
            self.fields[FALLBACK + name] = LineField(label=label, required=False, max_length=LONGEST_FALLBACK)
        if not any(gap.kind == "document" for gap in self.gaps):
            del self.fields["message_header_filename"]

    def _choose_first_template(self) -> None:
        """Choose the first template where none was chosen, or one that this channel does not have."""
        known = [str(one.uuid) for one in self.templates]
        if not self.is_bound and self.initial.get("template") not in ("", *known):
            self.initial["template"] = known[0]

    def _offer(self, field: str, choices: Sequence[tuple[str, StrOrPromise]]) -> None:
        self.fields[field].choices = choices  # type: ignore[attr-defined]  # a ChoiceField

    def typed(self, name: str) -> str:
        value = self.data.get(name) if self.is_bound else self.initial.get(name)
        return str(value or "")

    def _chosen_channel(self) -> Channel | None:
        named = self.typed("channel")
        fallback = None if self.is_bound else next(iter(self.channels), None)
        return next((one for one in self.channels if str(one.uuid) == named), fallback)

    def go_on_at(self, field: str) -> None:
        """Put the focus on this field when the page has loaded."""
        self.fields[field].widget.attrs["autofocus"] = True

    def _chosen_template(self) -> MessageTemplate | None:
        named = self.typed("template")
        return next((one for one in self.templates if str(one.uuid) == named), None)

    def typed_texts(self) -> list[str]:
        """Return the typed texts of the message."""
        names = [gap.field for gap in self.gaps] if self.chosen_template else ["message_text"]
        return [self.typed(name) for name in names]

    def _named_variables(self) -> list[str]:
        """Return the contacts' variables that may have a fallback; at most `MOST_FALLBACKS`."""
        named = [name for name in variables_in(self.typed_texts()) if name.startswith("fields.")]
        return list(dict.fromkeys((*ALWAYS_OFFERED, *named)))[:MOST_FALLBACKS]

    def gap_fields(self) -> list[forms.BoundField]:
        return [self[gap.field] for gap in self.gaps]

    def typed_values(self) -> dict[str, str]:
        """Return the values of the template's fields, for the picture of the message."""
        return {gap.field: self.typed(gap.field) or gap.example for gap in self.gaps}

    def clean(self) -> dict[str, object]:
        data: dict[str, Any] = super().clean() or {}
        if data.get("audience") == CONTACTS and data.get("audience_contacts"):
            found, unknown = find_contacts(data["audience_contacts"], self.workspace)
            data["contacts"] = found
            if unknown:
                some = ", ".join(unknown[:5])
                self.add_error("audience_contacts", _("Not found in your contacts: %(some)s.") % {"some": some})
        wanted = {AT: "scheduled_at", LOCAL: "scheduled_local_at"}.get(data.get("time", ""))
        if wanted and not data.get(wanted) and wanted not in self.errors:
            self.add_error(wanted, _("Choose a date and time."))
        return data

    def values(self) -> dict[str, Any]:
        """Return the typed values as the services' arguments."""
        data = self.cleaned_data
        return {
            "name": data["name"],
            "channel": self.chosen_channel,
            "message": self._message(),
            "fallbacks": {name: data[FALLBACK + name] for name in self.fallbacks},
            **self._audience(),
            **self._time(),
            "requires_approval": data["requires_approval"],
        }

    def counted_values(self) -> BroadcastFields | None:
        """Return the arguments that decide who gets the broadcast; None while the audience is not chosen.

        The message stands for the typed one: it has the same variables, whatever else its author still types.
        """
        self.full_clean()
        if self.chosen_channel is None or any(name in self.errors for name in AUDIENCE):
            return None
        is_timed = not any(name in self.errors for name in TIME)
        return {
            "name": "-",
            "channel": self.chosen_channel,
            "message": message_of_variables(self.chosen_template, self.typed),
            "fallbacks": {name: self.cleaned_data.get(FALLBACK + name, "") for name in self.fallbacks},
            **self._audience(),
            **(self._time() if is_timed else {}),
        }

    def _message(self) -> dict[str, object]:
        data = self.cleaned_data
        if self.chosen_template is None:
            return {"text": data["message_text"], "track_clicks": data["track_clicks"]}
        values = {gap.field: data[gap.field] for gap in self.gaps}
        message = message_of(self.chosen_template, values, data.get("message_header_filename", ""))
        return {**message, "track_clicks": data["track_clicks"]}

    def _audience(self) -> BroadcastFields:
        data = self.cleaned_data
        if data["audience"] == RETARGET:
            uuid = parse_uuid(data["source_broadcast_id"])
            source = Broadcast.objects.of(self.workspace).filter(uuid=uuid).first() if uuid else None
            engagement = data["retarget_engagement"] or None
            return {"type": "retarget", "source_broadcast": source, "retarget_engagement": engagement}
        if data["audience"] == CONTACTS:
            audience: dict[str, object] = {"type": "contacts", "contacts": data.get("contacts", [])}
        else:
            audience = {"type": "segment", "segment": ALL if data["audience"] == ALL else data["audience_segment"]}
        return {"type": "contact", "audience": audience}

    def _time(self) -> BroadcastFields:
        data = self.cleaned_data
        if data["time"] == LOCAL:
            wall = data["scheduled_local_at"].replace(tzinfo=None)
            return {"timezone_mode": "contact", "scheduled_at": None, "scheduled_local_at": f"{wall:%Y-%m-%d %H:%M:%S}"}
        moment = data["scheduled_at"].replace(tzinfo=self.zone) if data["time"] == AT else None
        return {"timezone_mode": "fixed", "scheduled_at": moment, "scheduled_local_at": None}


DEFAULTS: Final = {"audience": ALL, "time": NOW, "track_clicks": True}


def initial_of(broadcast: Broadcast) -> dict[str, object]:
    """Return a broadcast's values as the form's initial data."""
    message = broadcast.message
    template = template_of(broadcast)
    header = message.get("header") or {}
    return {
        "name": broadcast.name,
        "channel": str(broadcast.channel.uuid),
        "template": str(template.uuid) if template else "",
        "message_text": message.get("text") or "",
        **{FALLBACK + name: text for name, text in broadcast.fallbacks.items()},
        "message_header_filename": header.get("filename") or "",
        "track_clicks": message.get("track_clicks", True),
        **(values_of(template, message) if template else {}),
        **_initial_audience(broadcast),
        **_initial_time(broadcast),
        "requires_approval": broadcast.requires_approval,
    }


def _initial_audience(broadcast: Broadcast) -> dict[str, object]:
    if broadcast.type == Broadcast.Type.RETARGET:
        source = broadcast.source_broadcast
        return {
            "audience": RETARGET,
            "source_broadcast_id": str(source.uuid) if source else "",
            "retarget_engagement": broadcast.retarget_engagement,
        }
    if broadcast.chosen_contacts is not None:
        people = Contact.objects.filter(pk__in=broadcast.chosen_contacts).order_by("pk")
        lines = (phone or email or str(uuid) for phone, email, uuid in people.values_list("phone", "email", "uuid"))
        return {"audience": CONTACTS, "audience_contacts": "\n".join(lines)}
    if broadcast.segment is not None:
        return {"audience": SEGMENT, "audience_segment": str(broadcast.segment.uuid)}
    return {"audience": ALL}


def _initial_time(broadcast: Broadcast) -> dict[str, object]:
    if broadcast.scheduled_local_at:
        return {"time": LOCAL, "scheduled_local_at": datetime.fromisoformat(broadcast.scheduled_local_at)}
    if broadcast.scheduled_at:
        zone = ZoneInfo(broadcast.workspace.timezone)
        return {"time": AT, "scheduled_at": broadcast.scheduled_at.astimezone(zone).replace(tzinfo=None)}
    return {"time": NOW}


def _channels_of(workspace: Workspace) -> list[Channel]:
    """Return the channels to send on: first those of the network that has templates."""
    active = Channel.objects.filter(workspace=workspace, platform__in=PLATFORMS, status=Channel.Status.ACTIVE)
    return sorted(active.order_by("pk")[:MOST_CHANNELS], key=lambda channel: channel.platform != WITH_TEMPLATES)


def _field_of(gap: TemplateParameter) -> forms.CharField:
    shown = {"data-example": gap.example, "data-short": gap.short_label, "placeholder": gap.example}
    widget = forms.TextInput({"data-gap": gap.field, **shown})
    checks = [validate_no_breaks] if gap.kind == "text" else []
    return LineField(label=gap.label, max_length=LONGEST_PARAMETER, widget=widget, validators=checks)


def validate_no_breaks(typed: str) -> None:
    """Refuse line breaks and other spacing that no network accepts in a template. Raises `ValidationError`."""
    if BREAKS.search(typed):
        raise forms.ValidationError(gettext(NO_BREAKS), code="breaks")


def pictured_form(form: ComposerForm) -> MessagePreview:
    """Return the picture of the message that the form describes."""
    values = {**form.typed_values(), "message_text": form.typed("message_text")}
    return preview_with(form.chosen_template, values, "{{message_text}}", form.workspace)


class TestForm(forms.Form):
    """The contacts who get a broadcast as a test."""

    contacts = MultilineField(
        label=_("Send to"),
        max_length=1_000,
        widget=forms.Textarea({"rows": 3}),
        help_text=_("Up to five phone numbers or e-mail addresses of contacts, each on a line of its own."),
    )

    def __init__(self, data: Mapping[str, object] | None = None, *, workspace: Workspace) -> None:
        self.workspace = workspace
        super().__init__(data)

    def clean_contacts(self) -> list[UUID]:
        found, unknown = find_contacts(self.cleaned_data["contacts"], self.workspace)
        if unknown:
            some = ", ".join(unknown[:5])
            raise forms.ValidationError(_("Not found in your contacts: %(some)s.") % {"some": some})
        if len(found) > MOST_TESTED:
            raise forms.ValidationError(_("At most five contacts."))
        return found


MOST_TESTED: Final = 5
