"""Agencies themselves, as our support creates, suspends and restores them."""

from datetime import datetime

from django.db import IntegrityError, transaction

from agency.actors import Actor
from agency.models import Agency
from agency.services.activity import record_activity
from agency.services.people.names import require_plain_names
from config.db import name_key
from config.errors import Invalid


class AgencyNameTaken(Invalid):
    field = "name"
    message = "Another agency has this name."


def lock_agency(pk: int) -> None:
    """Take an agency's lock, for changes of its people one after another; the caller is inside a transaction."""
    Agency.objects.select_for_update(no_key=True).get(pk=pk)


@transaction.atomic
def create_agency(*, name: str, by: Actor, max_sub_accounts: int | None = None) -> Agency:
    """Create an agency; the name must be free and hold no web address."""
    require_plain_names(name=name)
    try:
        with transaction.atomic():
            agency = Agency.objects.create(
                name=name.strip(), name_key=name_key(name), max_sub_accounts=max_sub_accounts
            )
    except IntegrityError as error:
        raise AgencyNameTaken from error
    record_activity(by=by, action="agency.created", agency_id=agency.id, target=("agency", agency.uuid, agency.name))
    return agency


@transaction.atomic
def change_agency(*, agency: Agency, name: str, max_sub_accounts: int | None, by: Actor) -> Agency:
    """Rename an agency or change how many sub-accounts it may hold (None for no limit)."""
    require_plain_names(name=name)
    agency = Agency.objects.select_for_update(no_key=True).get(pk=agency.pk)
    values = {"name": name.strip(), "name_key": name_key(name), "max_sub_accounts": max_sub_accounts}
    changed = {field: value for field, value in values.items() if getattr(agency, field) != value}
    if not changed:
        return agency
    for field, value in changed.items():
        setattr(agency, field, value)
    try:
        with transaction.atomic():
            agency.save(update_fields=list(changed))
    except IntegrityError as error:
        raise AgencyNameTaken from error
    record_activity(by=by, action="agency.changed", agency_id=agency.id, target=("agency", agency.uuid, agency.name))
    return agency


@transaction.atomic
def suspend_agency(*, agency: Agency, reason: str, now: datetime, by: Actor) -> bool:
    """Suspend an agency: its keys and consoles stop working at once. Says whether anything changed."""
    changed = Agency.objects.filter(pk=agency.pk, status=Agency.Status.ACTIVE).update(
        status=Agency.Status.SUSPENDED, suspended_at=now, suspension_reason=reason
    )
    if changed:
        target = ("agency", agency.uuid, agency.name)
        record_activity(
            by=by, action="agency.suspended", agency_id=agency.id, target=target, details={"reason": reason}
        )
    agency.refresh_from_db()
    return bool(changed)


@transaction.atomic
def restore_agency(*, agency: Agency, by: Actor) -> bool:
    """Lift an agency's suspension. Says whether anything changed."""
    changed = Agency.objects.filter(pk=agency.pk, status=Agency.Status.SUSPENDED).update(
        status=Agency.Status.ACTIVE, suspended_at=None, suspension_reason=""
    )
    if changed:
        target = ("agency", agency.uuid, agency.name)
        record_activity(by=by, action="agency.restored", agency_id=agency.id, target=target)
    agency.refresh_from_db()
    return bool(changed)
