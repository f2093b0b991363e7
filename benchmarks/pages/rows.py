"""Makes an agency with 10,000 sub-accounts, webhooks, deliveries, activity and connections."""

from dataclasses import dataclass
from typing import Any, Final

from django.db import connection

from agency.models import Agency, User
from benchmarks.contacts.rows import INSERT as CONTACTS
from benchmarks.rows import agency_with
from webhooks.models import Endpoint
from webhooks.services.endpoints import new_secret
from workspaces.subaccounts.models import Workspace

SUB_ACCOUNTS: Final = 10_000
ENDPOINTS, DELIVERIES, ENTRIES, SESSIONS, PEOPLE = 20, 20_000, 50_000, 2_000, 1_000
MEMBER = (
    "INSERT INTO agency_member (agency_id, user_id, role, created_at) VALUES (%(agency)s, %(user)s, 'owner', now())"
)
CHANNELS = """
INSERT INTO subaccounts_channel (uuid, workspace_id, platform, external_id, name, handle, status, connected_at, quality)
SELECT gen_random_uuid(), id, 'whatsapp', 'bench-' || id, 'Number ' || id, '+4930' || id,
    CASE WHEN id %% 500 = 0 THEN 'error' ELSE 'active' END, now(), 'GREEN'
FROM subaccounts_workspace WHERE agency_id = %(agency)s
"""
DELIVERED = """
INSERT INTO webhooks_delivery (uuid, agency_id, endpoint_id, event_name, envelope_id, body, kind, status, attempts,
    max_attempts, response_status, error, created_at, completed_at, failed_at)
SELECT gen_random_uuid(), %(agency)s, (%(endpoints)s::bigint[])[1 + n %% %(count)s], 'workspace.created',
    gen_random_uuid(), '{}', 'test', CASE WHEN n %% 10 = 0 THEN 'error' ELSE 'success' END, 1, 1,
    CASE WHEN n %% 10 = 0 THEN 500 ELSE 204 END, NULL, now(), now(), CASE WHEN n %% 10 = 0 THEN now() END
FROM generate_series(1, %(deliveries)s) n
"""
STATS = """
INSERT INTO webhooks_hourlystats (endpoint_id, hour, successes, errors)
SELECT endpoint, date_trunc('hour', now()) - n * interval '1 hour', 40, n %% 5
FROM unnest(%(endpoints)s::bigint[]) endpoint, generate_series(0, 700) n
"""
COUNTS = """
INSERT INTO agency_hourlycount (agency_id, name, hour, number)
SELECT %(agency)s, name, date_trunc('hour', now()) - n * interval '1 hour', 100 + n
FROM unnest(ARRAY['messages.received', 'messages.sent', 'broadcasts.begun']) name, generate_series(0, 700) n
"""
ACTIVITY = """
INSERT INTO agency_activityentry (agency_id, workspace_uuid, at, actor_kind, actor_id, actor_label, action, target_kind,
    target_id, target_name, address, request_id, details)
SELECT %(agency)s, workspace.uuid, now() - n * interval '1 minute', 'user', '1', 'owner@example.com',
    (ARRAY['workspace.created', 'workspace.suspended', 'workspace.restored', 'plan.changed'])[1 + n %% 4], 'workspace',
    workspace.uuid::text, workspace.name, '192.0.2.1', '', '{"reason": "unpaid"}'
FROM generate_series(1, %(entries)s) n
JOIN (SELECT uuid, name, row_number() OVER (ORDER BY id) AS place FROM subaccounts_workspace
    WHERE agency_id = %(agency)s) workspace ON workspace.place = 1 + n %% %(sub_accounts)s
"""
CONNECTED = """
INSERT INTO channelconnect_connectsession (uuid, agency_id, workspace_id, platform, status, return_url, error_code,
    link_digest, host, created_by, created_at, expires_at, ended_at)
SELECT gen_random_uuid(), %(agency)s, id, 'whatsapp', 'failed', 'https://app.example.com/', 'denied',
    sha256(id::text::bytea), '', 'bench', now(), now(), now()
FROM subaccounts_workspace WHERE agency_id = %(agency)s LIMIT %(sessions)s
"""
TABLES: Final = (
    "subaccounts_channel, webhooks_delivery, webhooks_hourlystats, agency_hourlycount, agency_activityentry, "
    "channelconnect_connectsession, contacts_contact"
)


@dataclass(frozen=True, slots=True)
class Rows:
    """The agency, its owner, and one sub-account that the same person owns."""

    agency: Agency
    owner: User
    workspace: Workspace
    endpoint: Endpoint


def fill() -> Rows:
    """Make all rows under the product's triggers and constraints."""
    agency, _ = agency_with(SUB_ACCOUNTS)
    workspace: Workspace = Workspace.objects.filter(agency=agency).latest("id")
    workspace.owner = User.objects.create_user(f"customer-of-{agency.pk}@example.com")
    workspace.save(update_fields=["owner"])
    endpoints = Endpoint.objects.bulk_create(
        Endpoint(
            agency=agency,
            url=f"https://receiver-{number}.example.com/hook",
            events=["workspace.created"],
            secret=new_secret(),
            last_outcome="error" if number < 2 else "success",
        )
        for number in range(ENDPOINTS)
    )
    values: dict[str, Any] = {
        "agency": agency.pk,
        "user": workspace.owner_id,
        "endpoints": [endpoint.pk for endpoint in endpoints],
        "count": ENDPOINTS,
        "deliveries": DELIVERIES,
        "entries": ENTRIES,
        "sessions": SESSIONS,
        "sub_accounts": SUB_ACCOUNTS,
    }
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0")
        for statement in (MEMBER, CHANNELS, DELIVERED, STATS, COUNTS, ACTIVITY, CONNECTED):
            cursor.execute(statement, values)
        cursor.execute(CONTACTS, {"workspace": workspace.pk, "first": 1, "last": PEOPLE})
        cursor.execute(f"VACUUM ANALYZE {TABLES}")
        cursor.execute("RESET statement_timeout")
    agency.refresh_from_db()
    return Rows(agency, workspace.owner, workspace, endpoints[0])
