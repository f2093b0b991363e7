"""Agencies that tests share are there for those that want them, and for no others."""

import pytest

from agency.models import Agency
from tests import furnished
from tests.tenants import Tenant

a, b = furnished.a_with_customer, furnished.b_with_customer


@pytest.mark.parametrize("number", [1, 2])
def test_what_a_test_changes_is_as_it_was_for_the_next(a: Tenant, b: Tenant, number: int) -> None:
    assert set(Agency.objects.all()) == {a.agency, b.agency}
    assert (a.agency.language, Agency.objects.get(pk=a.agency.pk).language) == ("", "")
    a.agency.language = "de"
    a.agency.save()


@pytest.mark.django_db(transaction=True)
def test_a_test_that_commits_begins_without_them(a: Tenant) -> None:
    assert list(Agency.objects.all()) == [a.agency]
