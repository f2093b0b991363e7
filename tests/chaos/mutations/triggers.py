"""What is broken in the database: triggers that undo or spoil what the product writes, by the name of the mutation."""

from typing import NamedTuple

from django.db import connection


class Trigger(NamedTuple):
    """A row trigger's table, when it fires, and its body."""

    table: str
    when: str
    body: str


DROP_FROM_QUEUE = "DELETE FROM webhooks_queueddelivery WHERE delivery_id = OLD.delivery_id; RETURN NULL;"
ELSEWHERE = """
    IF random() < 0.05 THEN
        NEW.endpoint_id := coalesce((
            SELECT id FROM webhooks_endpoint WHERE agency_id <> NEW.agency_id AND NEW.event_name = ANY (events)
            ORDER BY random() LIMIT 1), NEW.endpoint_id);
    END IF;
    RETURN NEW;
"""
TRIGGERS = {
    "leases": Trigger(
        "webhooks_queueddelivery",
        "BEFORE UPDATE ON {table} FOR EACH ROW"
        " WHEN (OLD.run IS NOT NULL AND NEW.run IS NULL AND NEW.due_at = OLD.due_at)",
        DROP_FROM_QUEUE,
    ),
    "retries": Trigger(
        "webhooks_queueddelivery",
        "BEFORE UPDATE ON {table} FOR EACH ROW WHEN (NEW.due_at > OLD.due_at)",
        DROP_FROM_QUEUE,
    ),
    "records": Trigger(
        "webhooks_delivery", "BEFORE UPDATE ON {table} FOR EACH ROW WHEN (NEW.status = 'success')", "RETURN NULL;"
    ),
    "tenants": Trigger("webhooks_delivery", "BEFORE INSERT ON {table} FOR EACH ROW", ELSEWHERE),
}


def create(name: str) -> None:
    """Create a mutation's trigger. Raises `django.db.Error` when what it spoils is no longer there."""
    trigger = TRIGGERS[name]
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE FUNCTION chaos() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {trigger.body} END $$")
        cursor.execute(f"CREATE TRIGGER chaos {trigger.when.format(table=trigger.table)} EXECUTE FUNCTION chaos()")
