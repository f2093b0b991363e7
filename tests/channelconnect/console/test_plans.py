"""The list of connections reads along an index, whatever it is narrowed by and however many there are."""

import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.agency.console.browsers import at_the_console
from tests.channelconnect.agencies import a_session, switch_on
from tests.tenants import Tenant

pytestmark = pytest.mark.django_db
LIST = "/console/configuration/channel-connect"
# Ended ones of the agency, all of WhatsApp.
MANY = """
INSERT INTO channelconnect_connectsession (uuid, agency_id, workspace_id, platform, status, return_url, link_digest,
    created_by, created_at, expires_at, ended_at, error_code, host)
SELECT gen_random_uuid(), agency_id, workspace_id, 'whatsapp', 'cancelled', return_url, sha256(number::text::bytea),
    created_by, created_at, expires_at, now(), 'authorization_not_completed', ''
FROM channelconnect_connectsession CROSS JOIN generate_series(1, 5000) AS number
"""


@pytest.fixture
def admin(a: Tenant) -> Client:
    return at_the_console(a.agency, "admin")


@pytest.mark.parametrize(
    ("asked", "index"),
    [({"platform": "instagram"}, "connect_newest_of_platform"), ({"status": "failed"}, "connect_newest_of_status")],
)
def test_each_filter_reads_along_its_index(a: Tenant, admin: Client, asked: dict[str, str], index: str) -> None:
    a_session(switch_on(a))
    with CaptureQueriesContext(connection) as captured:
        assert admin.get(LIST, asked).status_code == 200
    [sought] = [one["sql"] for one in captured if 'ORDER BY "channelconnect_connectsession"."id" DESC' in one["sql"]]
    with connection.cursor() as cursor:
        cursor.execute(MANY)
        cursor.execute("ANALYZE channelconnect_connectsession")
        cursor.execute(f"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) {sought}")
        plan = "\n".join(row[0] for row in cursor.fetchall())
    assert index in plan
    assert "Seq Scan on channelconnect_connectsession" not in plan
    assert all(int(number) < 100 for number in re.findall(r"Rows Removed by Filter: (\d+)", plan)), plan
