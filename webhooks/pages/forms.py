"""The base of the pages about webhooks, and their forms."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, ClassVar
from uuid import UUID

from django import forms
from django.db.models import QuerySet
from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy
from django.utils.translation import gettext_lazy as _

from agency.actors import Actor
from agency.pages.forms import LineField, NaiveDateTimeField
from agency.pages.pagination import with_id
from agency.pages.registry import StrOrPromise
from agency.pages.views import OUT_OF_DATE, SignedInView
from agency.tenants import Tenant
from webhooks.models import Delivery, Endpoint
from webhooks.services.deliveries import DeliveryNotFound
from webhooks.services.endpoints import EndpointNotFound

WEBHOOKS = gettext_lazy("Webhooks")


def translated_labels(catalogue: Mapping[str, str]) -> dict[str, str]:
    """Translate the labels of events, which are declared in English for the API."""
    return {name: gettext(label) for name, label in catalogue.items()}


class WebhookView(SignedInView):
    """A page about webhooks. `area` is the namespace of its URLs: `console` or `app`."""

    area: ClassVar[str]
    lead: ClassVar[StrOrPromise]
    hides: ClassVar[tuple[str, ...]] = ()  # the log's filters that make no sense in this area

    @property
    def tenant(self) -> Tenant:
        """The owner of the endpoints and deliveries. Each area has its own."""
        raise NotImplementedError

    @property
    def catalogue(self) -> Mapping[str, str]:
        """The events that the tenant may subscribe to, with their labels. Each area has its own."""
        raise NotImplementedError

    if TYPE_CHECKING:

        @property
        def by(self) -> Actor:
            """The acting person, from the area's base view."""

    @classmethod
    def named(cls, name: str) -> str:
        """Return the name of a URL in the same area, such as `console:webhook-new`."""
        return f"{cls.area}:{name}"

    def crumb(self, label: StrOrPromise, name: str, *args: object) -> tuple[StrOrPromise, str]:
        """Return a breadcrumb's label and URL."""
        return label, reverse(self.named(name), args=args)

    def page(self, template: str, *, status: int = 200, **context: object) -> HttpResponse:
        return super().page(template, status=status, lead=self.lead, **context)

    def endpoints(self) -> "QuerySet[Endpoint]":
        return Endpoint.objects.of_tenant(self.tenant).order_by("created_at", "id")

    def endpoint_of(self, uuid: UUID | None) -> Endpoint:
        found = with_id(Endpoint.objects.of_tenant(self.tenant), uuid)
        if found is None:
            raise EndpointNotFound
        return found

    def delivery_of(self, uuid: UUID | None) -> Delivery:
        deliveries = Delivery.objects.of_tenant(self.tenant).select_related("endpoint", "event", "queued")
        found = deliveries.with_uuid(uuid) if uuid else None
        if found is None:
            raise DeliveryNotFound
        return found


LONGEST_URL = 2_048


class EndpointForm(forms.Form):
    """An endpoint's fields. `catalogue` holds the events that the tenant may subscribe to."""

    url = LineField(
        label=_("URL"),
        max_length=LONGEST_URL,
        widget=forms.URLInput(attrs={"placeholder": "https://hooks.example.com/events", "spellcheck": "false"}),
        help_text=_("The URL must be publicly reachable. We recommend https."),
    )
    all_events = forms.BooleanField(
        label=_("All events"),
        required=False,
        help_text=_("All events that exist today. Events that are added later are not sent."),
    )
    events = forms.MultipleChoiceField(label=_("Events"), required=False, widget=forms.CheckboxSelectMultiple)
    description = LineField(label=_("Description"), max_length=200, required=False)
    retries = forms.ChoiceField(
        label=_("Retries"),
        choices=[
            (Endpoint.Retries.STANDARD.value, _("Standard: three attempts, 10 seconds and then one minute apart")),
            (Endpoint.Retries.EXTENDED.value, _("Extended: nine attempts over about 28 hours")),
        ],
        widget=forms.RadioSelect,
        required=False,
    )
    enabled = forms.BooleanField(
        label=_("Enabled"),
        required=False,
        help_text=_("A disabled webhook receives nothing. Pending deliveries will be marked as failed."),
    )

    def __init__(self, *args: Any, catalogue: Mapping[str, StrOrPromise], **options: Any) -> None:
        super().__init__(*args, **options)
        events = self.fields["events"]
        assert isinstance(events, forms.MultipleChoiceField)  # noqa: S101  # tells the type checker what is declared above
        events.choices = [(event, f"{label} ({event})") for event, label in catalogue.items()]
        self._every_event = [*catalogue]

    def clean(self) -> dict[str, object]:
        """Replace `all_events` by the list of all events, and require at least one event."""
        cleaned: dict[str, object] = super().clean() or self.cleaned_data
        if cleaned.pop("all_events", False):
            cleaned["events"] = self._every_event
            self.errors.pop("events", None)
        elif not cleaned.get("events") and "events" not in self.errors:
            self.add_error("events", forms.Field.default_error_messages["required"])
        if not cleaned.get("retries"):
            cleaned.pop("retries", None)
        return cleaned


class RotationForm(forms.Form):
    """A choice of how long the old secret signs beside the new one."""

    overlap_hours = forms.TypedChoiceField(
        label=_("Old secret"),
        choices=[
            (24, _("Stays valid for 24 hours")),
            (72, _("Stays valid for three days")),
            (1, _("Stays valid for one hour")),
            (0, _("Expires now: an endpoint that only knows the old secret will see wrong signatures")),
        ],
        coerce=int,
        initial=24,
        required=False,
        widget=forms.RadioSelect,
        help_text=_("X-Svc-Signature always uses the new secret. webhook-signature contains both signatures."),
    )


class TestForm(forms.Form):
    """A choice of the event to sample, among the endpoint's events in the catalogue."""

    event = forms.ChoiceField(label=_("Event"))

    def __init__(
        self, *args: Any, events: Iterable[str], catalogue: Mapping[str, StrOrPromise], **options: Any
    ) -> None:
        super().__init__(*args, **options)
        event = self.fields["event"]
        assert isinstance(event, forms.ChoiceField)  # noqa: S101  # tells the type checker what is declared above
        event.choices = [(name, catalogue[name]) for name in events if name in catalogue]


class MomentField(NaiveDateTimeField):
    """A moment in UTC, to the minute, whatever the viewer's time zone."""

    widget = forms.DateTimeInput(attrs={"type": "datetime-local", "step": "60"}, format="%Y-%m-%dT%H:%M")

    def prepare_value(self, value: object) -> object:
        return value.astimezone(UTC).replace(tzinfo=None) if isinstance(value, datetime) else value


def moment_field(label: Any, *, required: bool = True) -> forms.DateTimeField:
    return MomentField(label=label, required=required)


class DismissForm(forms.Form):
    """The failures that the user has seen: their number and the time of the last one."""

    until = forms.CharField(max_length=40, widget=forms.HiddenInput)
    number = forms.IntegerField(min_value=0, max_value=1_000_000, widget=forms.HiddenInput)

    def clean_until(self) -> datetime:
        try:
            found = datetime.fromisoformat(self.cleaned_data["until"])
        except ValueError:
            found = None
        if found is None or found.tzinfo is None:
            raise forms.ValidationError(OUT_OF_DATE)
        return found


class RedeliverForm(forms.Form):
    """A choice since when failed deliveries are sent again, and to which endpoint."""

    since = moment_field(_("Created since (UTC)"))
    webhook = forms.ModelChoiceField(
        label=_("Webhook"), queryset=Endpoint.objects.none(), required=False, empty_label=_("All webhooks"),
        to_field_name="uuid",
    )  # fmt: skip

    def __init__(self, *args: Any, endpoints: "QuerySet[Endpoint]", **options: Any) -> None:
        an_hour_ago = timezone.now() - timedelta(hours=1)
        options["initial"] = {"since": an_hour_ago, **options.get("initial", {})}
        super().__init__(*args, **options)
        webhook = self.fields["webhook"]
        assert isinstance(webhook, forms.ModelChoiceField)  # noqa: S101  # tells the type checker what is declared above
        webhook.queryset = endpoints
