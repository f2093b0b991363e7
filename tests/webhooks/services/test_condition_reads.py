"""However many deliveries an endpoint has, its state is told from few of them."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.tenants import Tenant
from tests.webhooks.api import test_log_reads
from tests.webhooks.api.test_log_reads import rows_read
from webhooks.models import Endpoint
from webhooks.services.endpoint_health import MOST_UNDELIVERED_COUNTED, with_health

pytestmark = pytest.mark.django_db(transaction=True)
quiet = test_log_reads.quiet


def test_nothing_but_failures_is_read(a: Tenant, quiet: str) -> None:
    for endpoint in Endpoint.objects.of(a.agency):
        with CaptureQueriesContext(connection) as captured:
            [(_, condition)] = with_health(Endpoint.objects.filter(pk=endpoint.pk))
        [statement] = captured.captured_queries
        has_failed = str(endpoint.uuid) == quiet
        assert condition.undelivered == (MOST_UNDELIVERED_COUNTED + 1 if has_failed else 0)
        assert rows_read(statement["sql"]) <= (2_000 if has_failed else 0)
