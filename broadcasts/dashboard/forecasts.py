"""A broadcast's forecast, and the button texts of the pages that ask for confirmation before it is sent."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from agency.pages.branding import in_page_language
from agency.templatetags.pages import number
from broadcasts.models import Broadcast
from broadcasts.pages.labels import REASONS
from broadcasts.services.forecast import ForecastUnavailable, Preview, preview
from broadcasts.services.moving import is_waiting_for_approval
from config.errors import DomainError
from workspaces.subaccounts.models import Workspace

# The number of people may differ from the confirmed number by a 20th of it before the page asks again.
MUCH: Final = 20


@dataclass(frozen=True, slots=True)
class Forecast:
    """A forecast, or the reason why there is none. `has_failed` means that counting the audience took too long."""

    found: Preview | None
    refusal: str = ""
    has_failed: bool = False

    @property
    def is_uncounted(self) -> bool:
        """Whether the number of people who get it is still unknown."""
        return self.has_failed or (self.found is not None and self.found.counting is not None)

    @property
    def people(self) -> int | None:
        """The number of people who get it; None while it is unknown."""
        return None if self.is_uncounted else self._reached

    @property
    def _reached(self) -> int | None:
        """The number of people who get it, among those counted so far."""
        return self.found.recipients_count - sum(self.found.skipped.values()) if self.found else None

    def context(self) -> dict[str, Any]:
        skipped = self.found.skipped.items() if self.found else ()
        return {
            "preview": self.found,
            "refusal": self.refusal,
            "is_uncounted": self.is_uncounted,
            "people": self.people,
            "reached": self._reached,
            "skipped": [(REASONS.get(reason, reason), count) for reason, count in skipped],
        }


def forecast_of(workspace: Workspace, broadcast: Broadcast) -> Forecast:
    try:
        return Forecast(preview(workspace, broadcast))
    except DomainError as error:
        return Forecast(None, in_page_language(error.message), isinstance(error, ForecastUnavailable))


def differs_much(before: int | None, people: int | None) -> bool:
    """Say whether the number of people has changed so much that the user must confirm it again."""
    if before is None or people is None:
        return people is not None
    return abs(people - before) * MUCH > before


def leaves_now(broadcast: Broadcast, now: datetime, *, approving: bool) -> bool:
    """Say whether scheduling or approving this broadcast sends it at once."""
    if approving:
        return broadcast.status == Broadcast.Status.SCHEDULED and (broadcast.due_at is None or broadcast.due_at <= now)
    is_due = broadcast.scheduled_at is None or broadcast.scheduled_at <= now
    return is_due and not is_waiting_for_approval(broadcast)


def press_words(people: int | None, *, is_now: bool, approving: bool) -> str:
    """Return the text of the button that schedules or approves a broadcast: what it does, and for how many people."""
    if people is None:
        return _uncounted(is_now=is_now, approving=approving)
    shown = {"shown": number(people)}
    if approving:
        if is_now:
            return _("Approve and send to %(shown)s now") % shown
        return ngettext("Approve for %(shown)s person", "Approve for %(shown)s people", people) % shown
    if is_now:
        return _("Send to %(shown)s now") % shown
    return ngettext("Schedule for %(shown)s person", "Schedule for %(shown)s people", people) % shown


def _uncounted(*, is_now: bool, approving: bool) -> str:
    if approving:
        return _("Approve without knowing for how many")
    return _("Send now without knowing to how many") if is_now else _("Schedule without knowing for how many")
