"""Checks before any view: health, addresses without their last slash, and trust in a proxy's scheme."""

from ipaddress import ip_network
from typing import Any

import pytest
from django.test import Client

from tests.tenants import Tenant

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_health_is_asked_for_with_get_or_head_and_kept_by_nobody(client: Client, path: str) -> None:
    answers = [client.get(path), client.head(path)]
    assert {answer["Content-Type"] for answer in answers} == {"application/json"}
    assert all("no-store" in answer["Cache-Control"] for answer in answers)
    asked = Client(enforce_csrf_checks=True).post(path)
    assert (asked.status_code, asked["Allow"]) == (405, "GET, HEAD")


@pytest.mark.parametrize("prefix", ["console", "app", "admin"])
def test_an_address_without_its_last_slash_leads_on(client: Client, prefix: str) -> None:
    answer = client.get(f"/{prefix}")
    assert (answer.status_code, answer["Location"]) == (302, f"/{prefix}/")


@pytest.mark.parametrize(("peer", "scheme"), [("10.0.0.1", "https"), ("198.18.0.1", "http")])
def test_only_a_trusted_proxy_says_that_a_request_came_by_https(
    a: Tenant, settings: Any, peer: str, scheme: str
) -> None:
    settings.TRUSTED_PROXIES = [ip_network("10.0.0.0/8")]
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    headers = {"x-api-key": a.plaintext, "X-Forwarded-Proto": "https", "X-Forwarded-For": "198.18.0.2"}
    page = Client(REMOTE_ADDR=peer).get("/api/agency/v1/workspaces", headers=headers).json()
    assert page["links"]["first"].startswith(f"{scheme}://testserver")
