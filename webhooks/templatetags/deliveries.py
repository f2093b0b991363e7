"""Template tags for deliveries: the day's sparkline, and errors and responses as text."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from django import template
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from config.formats import format_relative, format_time
from webhooks.models import Attempt, Delivery
from webhooks.pages import deliveries
from webhooks.services.endpoint_health import EndpointHealth

register = template.Library()

HEIGHT = 24
BAR, GAP = 4, 1
SOON = timedelta(minutes=2)


DRAWN = """\
<svg class="sparkline" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" \
aria-label="{label}">{paths}</svg>"""


@register.simple_tag
def sparkline(hours: Sequence[tuple[int, int]]) -> SafeString:
    """Draw the successes and errors of each hour, oldest first. The label gives their totals."""
    good, bad = sum(hour[0] for hour in hours), sum(hour[1] for hour in hours)
    if not good and not bad:
        return format_html('<span class="muted small">{}</span>', _("Nothing in 24 hours"))
    label = _("Last 24 hours: %(good)s delivered, %(bad)s failed") % {"good": good, "bad": bad}
    paths = format_html_join("", '<path class="{}" d="{}"/>', _paths(hours))
    return format_html(DRAWN, width=len(hours) * (BAR + GAP), height=HEIGHT, label=label, paths=paths)


def _paths(hours: Sequence[tuple[int, int]]) -> list[tuple[str, str]]:
    """Return the bars as one path for each look."""
    highest = max((good + bad for good, bad in hours), default=0)
    bars: dict[str, list[str]] = {"good": [], "bad": [], "none": []}
    for position, (good, bad) in enumerate(hours):
        bad_height = round(HEIGHT * bad / highest) if highest else 0
        good_height = round(HEIGHT * good / highest) if highest else 0
        heights = {"bad": bad_height, "good": good_height, "none": 0 if bad_height or good_height else 1}
        base = HEIGHT
        for look, height in heights.items():
            base -= height
            if height:
                bars[look].append(f"M{position * (BAR + GAP)} {base}h{BAR}v{height}h-{BAR}z")
    return [(look, "".join(drawn)) for look, drawn in bars.items() if drawn]


@register.filter
def error_text(outcome: Delivery | Attempt) -> str:
    return deliveries.error_text(outcome)


@register.filter
def next_attempt(due_at: datetime) -> str:
    """Say when the next attempt is: within two minutes as a time, otherwise as the time until then."""
    now = timezone.now()
    if due_at - now < SOON:
        return _("next attempt at %(time)s") % {"time": f"{format_time(due_at.astimezone(UTC), seconds=True)} UTC"}
    return _("next attempt %(time)s") % {"time": format_relative(due_at, now)}


@register.filter
def decoded(body: bytes | memoryview | None) -> str:
    """Return the stored part of a response as text."""
    return "" if body is None else bytes(body).decode("utf-8", "replace")


@register.filter
def state_label(condition: EndpointHealth) -> str:
    return deliveries.state_label(condition)


@register.filter
def undelivered_notice(condition: EndpointHealth) -> str:
    return deliveries.undelivered_notice(condition)
