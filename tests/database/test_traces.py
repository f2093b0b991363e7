"""The oracle of other tests: it sees every change and overlooks the stamp of a key's use."""

from tests.database.traces import traces
from tests.tenants import Tenant


def test_a_change_leaves_a_trace_in_the_tables_that_it_touched(a: Tenant) -> None:
    path, before = a.path, traces()
    a.api.patch(path, {"name": "Renamed"})
    after = traces()
    assert {table for table in before if before[table] != after[table]} == {
        "subaccounts_workspace",
        "agency_activityentry",
    }


def test_a_read_leaves_none(a: Tenant) -> None:
    path, before = a.path, traces()
    a.api.get(path)
    assert traces() == before
