"""Settings that are missing or malformed stop a start with a sentence each, and quote no secret."""

import os
import subprocess
import sys

import pytest
from django.core.exceptions import ImproperlyConfigured

from config.environment import Environment
from tools.local import ROOT

PRODUCTION = {
    "ENVIRONMENT": "production",
    "SECRET_KEY": "x" * 50,
    "FIELD_ENCRYPTION_KEYS": "IT8Pjehttgv9oXKa2aMa_U1f4fgC-nYwGGRDXvORRVA=",
    "DATABASE_URL": "postgresql://app:secret-word@db.example.com/app",
    "REDIS_URL": "redis://redis.example.com:6379/0",
    "PUBLIC_URL": "https://app.example.com",
    "EMAIL_HOST": "mail.example.com",
}
NEEDED = sorted(PRODUCTION.keys() - {"ENVIRONMENT"})


def complaints(settings: dict[str, str]) -> str:
    """What a start with these variables alone complains of; nothing where it goes well."""
    command = [sys.executable, "-c", "import config.settings"]
    environment = {"PATH": os.environ["PATH"], **settings}
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, check=False).stderr


def test_a_production_with_all_it_needs_starts() -> None:
    assert complaints(PRODUCTION) == ""


def test_everything_that_is_missing_is_named_at_once() -> None:
    said = complaints({})
    assert [name for name in NEEDED if f"{name} is not set" not in said] == []


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("ENVIRONMENT", "prod", "ENVIRONMENT must be one of production, development, test, not 'prod'."),
        ("DATABASE_URL", "postgres//app:secret-word@db", "DATABASE_URL is not an address such as postgresql://"),
        ("LOG_LEVEL", "LOUD", "LOG_LEVEL must be one of INFO, DEBUG, WARNING, ERROR, CRITICAL, not 'LOUD'."),
        ("HSTS_SECONDS", "a year", "HSTS_SECONDS must be a whole number, not 'a year'."),
        ("EMAIL_USE_TLS", "yes", "EMAIL_USE_TLS must be true or false, not 'yes'."),
        ("TRUSTED_PROXIES", "10.0.0.0/33", "TRUSTED_PROXIES holds '10.0.0.0/33', which is not a network"),
        ("META_GRAPH_URL", "http://here", "META_GRAPH_URL and META_DIALOG_URL must begin with https://"),
    ],
)
def test_what_is_malformed_is_said_to_be(name: str, value: str, sentence: str) -> None:
    said = complaints({**PRODUCTION, name: value})
    assert sentence in said
    assert "secret-word" not in said


def test_complaints_are_collected_before_they_are_raised() -> None:
    env = Environment({"FLAG": "perhaps", "SIZE": "large", "CHOICE": "c", "NETS": "a, 10.0.0.0/8", "DB": "x"})
    assert env.flag("FLAG", default=True) is False
    assert env.number("SIZE", 3) == 3
    assert env.one_of("CHOICE", ("a", "b")) == "c"
    assert [str(network) for network in env.networks("NETS")] == ["10.0.0.0/8"]
    assert env.database("no address") == {}
    assert env.database("postgresql://app@db/app") == {"user": "app", "host": "db", "dbname": "app"}
    assert env.text("MISSING") == ""
    with pytest.raises(ImproperlyConfigured) as refused:
        env.check()
    assert str(refused.value).count("\n") == 6
