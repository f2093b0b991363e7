"""What the pages of API keys share, be they the agency's or a workspace's."""

from typing import Any

from django.db.models import F, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.pages.tables import Column, Table

# Its form was sent a second time.
KEY_SHOWN_ALREADY = gettext_lazy(
    "This form was used already: its key is shown only once. If you did not keep it, revoke it and create another."
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


def live_keys_first(keys: "QuerySet[Any]") -> "QuerySet[Any]":
    """Give keys as their list begins: revoked ones last, the newest of both first."""
    return keys.order_by(F("revoked_at").desc(nulls_first=True), "-created_at", "-id")


def revocation_form(*, name: str, prefix: str, warning: str) -> dict[str, Any]:
    """Give what the form says that asks before a key is revoked."""
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
