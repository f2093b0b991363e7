"""What a broadcast would come to, in the words of the pages that ask before it is sent."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from agency.pages.locale import in_page_language
from agency.templatetags.formats import number
from broadcasts.models import Broadcast
from broadcasts.pages.words import REASONS
from broadcasts.services.forecast import ForecastUnavailable, Preview, preview
from broadcasts.services.moving import is_waiting_for_approval
from config.errors import DomainError
from workspaces.subaccounts.models import Workspace

# Of those who were confirmed one in so many may be more or fewer, and nobody is asked again.
MUCH: Final = 20


@dataclass(frozen=True, slots=True)
class Forecast:
    """A forecast, or why there is none; `has_failed` where the audience took too long to count."""

    found: Preview | None
    refusal: str = ""
    has_failed: bool = False

    @property
    def is_uncounted(self) -> bool:
        """Whether it is not known yet how many get it."""
        return self.has_failed or (self.found is not None and self.found.counting is not None)

    @property
    def people(self) -> int | None:
        """How many get it; None where that is not known."""
        return None if self.is_uncounted else self._reached

    @property
    def _reached(self) -> int | None:
        """How many of those who were counted get it."""
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
    """Say whether so many more or fewer people get it now that somebody has to look again."""
    if before is None or people is None:
        return people is not None
    return abs(people - before) * MUCH > before


def leaves_now(broadcast: Broadcast, now: datetime, *, approving: bool) -> bool:
    """Say whether the press that schedules or approves a broadcast is what sends it."""
    if approving:
        return broadcast.status == Broadcast.Status.SCHEDULED and (broadcast.due_at is None or broadcast.due_at <= now)
    is_due = broadcast.scheduled_at is None or broadcast.scheduled_at <= now
    return is_due and not is_waiting_for_approval(broadcast)


def press_words(people: int | None, *, is_now: bool, approving: bool) -> str:
    """Give what the button says that schedules or approves a broadcast: what it does, and to how many."""
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
