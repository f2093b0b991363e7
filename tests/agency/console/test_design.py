"""The page of all parts: it is there to develop with, and nowhere else."""

import re
from typing import Any

import pytest
from django.test import Client

from tests.agency.console.browsers import text

pytestmark = pytest.mark.django_db
PAGE = "/console/design"


def test_it_shows_every_token_icon_and_part(admin: Client) -> None:
    page = admin.get(PAGE)
    shown = text(page)
    for name in ("accent-soft", "series-1", "space-4", "round-large", "text-title", "1,204", "10,000+", "Loading"):
        assert name in shown or f'"{name}"' in page.content.decode()
    icons = admin.get("/static/console/icons.svg")
    symbols = re.findall(r'<symbol id="([^"]+)"', b"".join(icons).decode())
    assert len(symbols) > 20
    assert all(f"icons.svg#{symbol}" in page.content.decode() for symbol in symbols)


def test_there_is_none_in_production(admin: Client, settings: Any) -> None:
    settings.PRODUCTION = True
    assert admin.get(PAGE).status_code == 404
