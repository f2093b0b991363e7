"""Writes rows in bulk: an agency with any number of sub-accounts, in one statement."""

from django.db import connection
from django.utils import timezone

from agency.actors import SYSTEM
from agency.limits import unlimited
from agency.models import Agency, User
from agency.services import create_agency, create_plan, issue_agency_key

FIRST = (
    "Amber Blue Copper Dawn East Fern Grand Harbour Iron Jade Kind Linden Maple North Old Pearl Quay River Silver Twin"
)
SECOND = (
    "Bakery Clinic Cycles Dental Events Flowers Garage Homes Ink Juice Kitchen Lodge Motors Nursery Pets Realty Salon"
)
INSERT = """
INSERT INTO subaccounts_workspace (uuid, agency_id, name, name_key, status, suspended_at, suspension_reason, plan_id,
    plan_limits, limits, owner_id, owner_name, owner_email, owner_key, business_type, timezone, created_at)
SELECT gen_random_uuid(), %(agency)s, named.name, lower(named.name), 'active', NULL, '', plan.id,
    plan.limits, plan.limits, %(owner)s, 'Owner ' || n, 'owner-' || n || '@example.com',
    'owner ' || n || E'\\nowner-' || n || '@example.com',
    (ARRAY['salon_spa', 'real_estate', 'other', NULL])[1 + n %% 4], 'UTC', now() - n * interval '1 minute'
FROM generate_series(1, %(count)s) n
JOIN agency_plan plan ON plan.id = (%(plans)s::bigint[])[1 + n %% 2]
CROSS JOIN LATERAL (
    SELECT split_part(%(first)s, ' ', 1 + n %% 20) || ' ' || split_part(%(second)s, ' ', 1 + n %% 17) || ' ' || n
) named (name)
"""


def agency_with(sub_accounts: int, *, keys: int = 1) -> tuple[Agency, list[str]]:
    """Make an agency with two plans and the given numbers of sub-accounts and keys; give it and its keys' texts."""
    agency = create_agency(name=f"Agency of {sub_accounts} at {timezone.now().isoformat()}", by=SYSTEM)
    plans = [create_plan(agency=agency, name=name, limits=unlimited(), by=SYSTEM) for name in ("Starter", "Growth")]
    owner = User.objects.create_user(f"owner-of-{agency.pk}@example.com")
    with connection.cursor() as cursor:
        cursor.execute(
            INSERT,
            {
                "agency": agency.pk,
                "plans": [plan.pk for plan in plans],
                "owner": owner.pk,
                "count": sub_accounts,
                "first": FIRST,
                "second": SECOND,
            },
        )
        cursor.execute("VACUUM ANALYZE subaccounts_workspace")
    texts = [issue_agency_key(agency=agency, name=f"Key {n}", can_copy=False, by=SYSTEM)[1] for n in range(keys)]
    return agency, texts
