"""What the pages of agencies' and workspaces' API keys share."""

from datetime import UTC, datetime, time, timedelta

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import ExpressionWrapper, F, Q, QuerySet
from django.db.models.fields import BooleanField
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.pages.forms import MultilineField
from agency.pages.pagination import Row
from agency.pages.tables import Column, Table
from agency.services.keys import LONGEST_LIFE, KeyLimits
from config.api.keys import LONGEST_NETWORK, MOST_NETWORKS, parse_network

# The answer to a form that is sent a second time.
KEY_SHOWN_ALREADY = gettext_lazy(
    "This form was already sent, and its key is shown only once. If you did not save it, revoke it and create another."
)
KEY_TABLE = Table(
    caption=gettext_lazy("API keys"),
    columns=(
        Column(name="name", label=gettext_lazy("Name"), order=("name", "id")),
        Column(name="key", label=gettext_lazy("Key")),
        Column(name="created", label=gettext_lazy("Created"), order=("created_at", "id"), descends_first=True),
        Column(name="used", label=gettext_lazy("Last used"), order=("last_used_at", "id")),
        Column(name="state", label=gettext_lazy("State")),
        Column(name="actions", label=gettext_lazy("Actions"), is_unseen=True),
    ),
)
IS_OVER = ExpressionWrapper(Q(revoked_at__isnull=False) | Q(expires_at__lte=Now()), output_field=BooleanField())
# How long the old key may still work beside the new one, in hours.
OVERLAPS = (
    (0, gettext_lazy("Stops working at once")),
    (1, gettext_lazy("Works for another hour")),
    (24, gettext_lazy("Works for another day")),
    (72, gettext_lazy("Works for another three days")),
    (168, gettext_lazy("Works for another seven days")),
)


class KeyLimitsForm(forms.Form):
    """The last day of a key, and the networks from which it works."""

    expires_at = forms.DateField(
        label=gettext_lazy("Last day"),
        required=False,
        widget=forms.DateInput({"type": "date"}, format="%Y-%m-%d"),
        help_text=gettext_lazy(
            "The key works until the end of this day (UTC). Leave empty for a key that does not expire."
        ),
    )
    allowed_networks = MultilineField(
        label=gettext_lazy("Allowed networks"),
        required=False,
        max_length=MOST_NETWORKS * (LONGEST_NETWORK + 2),
        widget=forms.Textarea({"rows": 3, "spellcheck": "false", "placeholder": "192.0.2.0/24"}),
        help_text=gettext_lazy(
            "Addresses or networks, one per line, such as 192.0.2.7, 192.0.2.0/24 or 2001:db8::/48. We refuse calls "
            "from elsewhere. Leave empty to allow all."
        ),
    )

    def clean_expires_at(self) -> datetime | None:
        day = self.cleaned_data["expires_at"]
        if day is None:
            return None
        # No key lasts that long, and the day after the calendar's last day does not exist.
        if day > (timezone.now() + LONGEST_LIFE).date():
            raise ValidationError(_("An API key expires in the future, at most ten years ahead."))
        return datetime.combine(day, time(), UTC) + timedelta(days=1)

    def clean_allowed_networks(self) -> list[str]:
        lines = self.cleaned_data["allowed_networks"].replace(",", "\n").splitlines()
        texts = [line.strip() for line in lines if line.strip()]
        if len(texts) > MOST_NETWORKS:
            raise ValidationError(_("There may be at most %(most)s networks.") % {"most": MOST_NETWORKS})
        networks = [(text, parse_network(text)) for text in texts]
        for text, network in networks:
            if network is None:
                raise ValidationError(
                    _("“%(text)s” is neither an address nor a network.") % {"text": text[:LONGEST_NETWORK]}
                )
        return [network for _text, network in networks if network]

    def limits(self) -> KeyLimits:
        """Return the values as the services take them."""
        given = self.cleaned_data
        return {"expires_at": given["expires_at"], "allowed_networks": given["allowed_networks"]}


class RollForm(forms.Form):
    """How long the old key still works."""

    overlap = forms.TypedChoiceField(
        label=gettext_lazy("The old key"), choices=OVERLAPS, coerce=int, initial=0, widget=forms.RadioSelect
    )

    def old_valid_until(self, now: datetime) -> datetime | None:
        hours: int = self.cleaned_data["overlap"]
        return now + timedelta(hours=hours) if hours else None


def roll_page_context(*, name: str, prefix: str) -> dict[str, object]:
    """Return the texts of the form that asks before a key is rolled."""
    return {
        "heading": _("Roll %(name)s?") % {"name": name},
        "text": _("You get a new key with the same rights. Choose when the key %(prefix)s… stops working.")
        % {"prefix": prefix},
        "submit": _("Roll key"),
    }


def live_keys_first(keys: "QuerySet[Row]") -> "QuerySet[Row]":
    """Order keys for their list: live keys before ended keys, the newest first in both."""
    return keys.order_by(IS_OVER, F("revoked_at").desc(nulls_first=True), "-created_at", "-id")


def revocation_page_context(*, name: str, prefix: str, warning: str) -> dict[str, object]:
    """Return the texts of the form that asks before a key is revoked."""
    return {
        "heading": _("Revoke %(name)s?") % {"name": name},
        "text": _("Every call with the key %(prefix)s… is refused from that moment on. This cannot be undone.")
        % {"prefix": prefix},
        "warning": warning,
        "submit": _("Revoke key"),
        "danger": True,
    }


def revocation_message(name: str) -> str:
    return _("%(name)s was revoked. Calls with it are refused from now on.") % {"name": name}
