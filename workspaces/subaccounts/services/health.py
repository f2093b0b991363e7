"""What an agency should look at in a sub-account, as conditions in SQL: apps declare them, the console's list asks."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.db.models import BooleanField, Exists, ExpressionWrapper, OuterRef, Q
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from agency.models import Agency
from config.hooks import Registry
from workspaces.subaccounts.models import Channel, Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthCheck:
    """A state in which a sub-account needs attention.

    `condition` is about a row of sub-accounts: its own columns, or an `Exists` that an index answers for its id.
    """

    name: str
    label: str | Promise
    order: int
    condition: Callable[[], Q]
    is_bad: bool = False


health_checks = Registry[HealthCheck](
    "health checks of sub-accounts",
    called="`health_condition` and `health_of` put each condition into one statement of the console's list",
    transaction="none",
    failure="the page answers 500",
)
ANY: Final = "any"


def checks_in_order() -> list[HealthCheck]:
    return sorted(health_checks, key=lambda check: check.order)


def health_condition(name: str) -> Q | None:
    """Give the condition of one check, of any of them for `any`, and None for an unknown name."""
    found = [check.condition() for check in health_checks if name in (ANY, check.name)]
    condition = Q()
    for one in found:
        condition |= one
    return condition if found else None


def health_of(agency: Agency, uuids: Collection[UUID]) -> Mapping[UUID, list[HealthCheck]]:
    """Give what is wrong with each of these sub-accounts of the agency, by one statement for all checks."""
    wrong: dict[UUID, list[HealthCheck]] = defaultdict(list)
    checks = checks_in_order()
    if uuids:
        asked = [ExpressionWrapper(check.condition(), BooleanField()) for check in checks]
        for uuid, *answers in Workspace.objects.of(agency).filter(uuid__in=uuids).values_list("uuid", *asked):
            wrong[uuid] = [check for check, is_wrong in zip(checks, answers, strict=True) if is_wrong]
    return wrong


def has_no_channel() -> Q:
    connected = Channel.objects.filter(workspace=OuterRef("pk")).exclude(status=Channel.Status.DISCONNECTED)
    return Q(~Exists(connected))


def has_broken_channel() -> Q:
    return Q(Exists(Channel.objects.filter(workspace=OuterRef("pk"), status=Channel.Status.ERROR)))


CHECKS: Final = (
    HealthCheck(
        name="owner", label=_("Owner pending"), order=10, condition=lambda: Q(owner_pending_since__isnull=False)
    ),
    HealthCheck(name="no-channel", label=_("No channel"), order=20, condition=has_no_channel),
    HealthCheck(
        name="broken-channel", label=_("Disconnected channel"), order=30, condition=has_broken_channel, is_bad=True
    ),
    HealthCheck(name="limit", label=_("Near a limit"), order=40, condition=lambda: Q(is_near_limit=True)),
)
