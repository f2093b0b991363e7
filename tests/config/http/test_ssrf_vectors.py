"""Every URL of the collection is let through or refused as it should be."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from config.http.guard import UNREACHABLE_HOST, URLRefused, check_url

VECTORS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[2] / "data" / "ssrf_vectors.json").read_text(encoding="utf-8")
)


def name_service(vector: dict[str, Any]) -> Any:
    def resolve(host: str) -> Sequence[str]:
        answers: list[str] | None = vector["answers"]
        assert answers is not None, f"{host} was looked up, though nothing needed to be"
        return answers

    return resolve


def named(vector: dict[str, Any]) -> str:
    return f"{vector['group']}: {vector['url']!a:.80}"


@pytest.mark.parametrize("vector", [v for v in VECTORS if v["verdict"] == "refuse"], ids=named)
def test_a_hostile_url_is_refused(vector: dict[str, Any]) -> None:
    with pytest.raises(URLRefused):
        check_url(vector["url"], resolve=name_service(vector))


@pytest.mark.parametrize("vector", [v for v in VECTORS if v["verdict"] == "allow"], ids=named)
def test_an_honest_url_is_let_through(vector: dict[str, Any]) -> None:
    vetted = check_url(vector["url"], resolve=name_service(vector))

    assert vetted.addresses
    assert vetted.target.url.isascii()


def test_the_collection_holds_both_kinds() -> None:
    verdicts = [vector["verdict"] for vector in VECTORS]

    assert verdicts.count("refuse") > 300
    assert verdicts.count("allow") > 80


def test_what_is_wrong_with_a_host_is_not_said() -> None:
    hosts: dict[str, list[str]] = {
        "private.acme.io": ["10.0.0.5"],
        "loopback.acme.io": ["127.0.0.1"],
        "metadata.acme.io": ["169.254.169.254"],
        "mixed.acme.io": ["93.184.216.34", "10.0.0.5"],
    }
    urls = [*(f"https://{host}/" for host in hosts), "https://10.0.0.5/", "https://localhost/", "https://redis/"]
    texts = set()
    for url in urls:
        with pytest.raises(URLRefused) as refusal:
            check_url(url, resolve=lambda host: hosts[host])
        texts.add(str(refusal.value))

    assert texts == {UNREACHABLE_HOST}
