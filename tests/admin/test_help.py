"""Support's help, in the admin."""

import pytest
from django.test import Client

from agency.pages.help import SUPPORT, guides_of
from tests.agency.console.browsers import at_the_console
from tests.factories import AgencyFactory

pytestmark = pytest.mark.django_db
HELP = "/admin/agency/agency/help/"


def test_support_alone_reads_its_guides_and_every_page_links_to_them(support: Client) -> None:
    assert f'<a href="{HELP}">Help</a>' in support.get("/admin/").content.decode()
    listed = support.get(HELP).content.decode()
    for guide in guides_of(SUPPORT):
        assert f'href="{guide.url}"' in listed
        page = support.get(guide.url)
        assert page.status_code == 200
        assert str(guide.title) in page.content.decode()
        assert f'<img src="/static/help/en/{guide.name}.webp" width="' in page.content.decode()
    assert support.get(f"{HELP}plans/").status_code == 404
    staff_of_an_agency = at_the_console(AgencyFactory.create())
    assert staff_of_an_agency.get(HELP).status_code == 302
