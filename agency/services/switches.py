"""Fleet-wide switches."""

from django.db import connection, transaction

from agency.actors import Actor
from agency.models import Switch
from agency.services.activity import record_activity

READ = "SELECT enabled FROM agency_switch WHERE name = %s"


def switch_is_on(name: Switch.Name) -> bool:
    """Read a fleet-wide switch; a missing row means on."""
    with connection.cursor() as cursor:
        cursor.execute(READ, [name])
        row = cursor.fetchone()
    return row is None or bool(row[0])


@transaction.atomic
def set_switch(*, name: str, enabled: bool, reason: str, by: Actor) -> Switch:
    """Switch a surface on or off for everybody, from the next request on."""
    switch, _ = Switch.objects.select_for_update(no_key=True).get_or_create(name=name)
    if (switch.enabled, switch.reason) == (enabled, reason):
        return switch
    switch.enabled, switch.reason = enabled, reason
    switch.save()
    action = "switch.turned_on" if enabled else "switch.turned_off"
    target = ("switch", name, switch.get_name_display())
    record_activity(by=by, action=action, agency_id=None, target=target, details={"reason": reason})
    return switch
