"""What is there when a test begins."""

import pytest

from agency.models import Agency


@pytest.mark.django_db
def test_a_module_that_shares_no_agency_begins_without_any() -> None:
    assert not Agency.objects.exists()
