"""The rate card at the support admin: imported whole, or refused with what is wrong in which line."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from broadcasts.models import Rate

pytestmark = pytest.mark.django_db
CARD = """currency,category,market,price,valid_from
USD,marketing,DE,0.1365,2026-01-01
USD,marketing,Rest of Western Europe,0.0592,2026-01-01
"""


def upload(browser: Client, content: str) -> str:
    file = SimpleUploadedFile("card.csv", content.encode())
    answer = browser.post("/admin/broadcasts/rate/import/", {"file": file}, follow=True)
    assert answer.status_code == 200
    return answer.content.decode()


def test_support_imports_a_card_or_sees_what_is_wrong(support: Client) -> None:
    refused = upload(support, CARD.replace("DE", "Atlantis"))
    assert "No rate of this file was imported." in refused
    assert "The market must be a country" in refused
    assert not Rate.objects.exists()

    assert "2 rates were imported." in upload(support, CARD)
    shown = support.get("/admin/broadcasts/rate/", {"q": "Rest of western europe"}).content.decode()
    assert "rest of western europe" in shown
    assert ">DE<" not in shown
