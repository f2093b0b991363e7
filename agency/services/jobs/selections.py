"""What all jobs share: their part of a list, and the check whether their maker may still do such things."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from agency.models import Agency, Member
from agency.models.jobs import Job
from config.errors import Conflict

ROLE_LOST = "Whoever asked for it may no longer do this."
AGENCY_SUSPENDED = "The agency is suspended."
BROKE_OFF = "It broke off five times at the same place."


class TooManyJobs(Conflict):
    """An agency may have only so many jobs at once, or in a day."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Some objects of an agency's list: those that were picked, else all that match its filters.

    `query` holds the filters as in the list's address. Objects newer than `until` are left out.
    """

    agency: Agency
    query: str
    until: datetime
    picked: Collection[UUID] | None = None


@dataclass(frozen=True, slots=True)
class Walk:
    """Some objects of a list, by their rows' ids; `cursor` is where the next objects begin, None at the end."""

    ids: Sequence[int]
    cursor: Any


def reason_to_stop(job: Job) -> str:
    """Return why a job may not go on, empty if it may: its maker has lost the role, or the agency is suspended."""
    if not job.agency.is_active:
        return AGENCY_SUSPENDED
    member = Member.objects.filter(agency=job.agency_id, user=job.created_by_id, user__is_active=True).first()
    return "" if member and member.may_change_things else ROLE_LOST
