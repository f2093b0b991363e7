"""Settings that are missing or malformed stop a start with a sentence each, and quote no secret."""

import os
import re
import subprocess
import sys

import pytest
from django.core.exceptions import ImproperlyConfigured

from config.environment import Environment
from tests.operations.settings_starts import Complaints
from tools.local import ROOT

pytestmark = pytest.mark.slow

PRODUCTION = {
    "ENVIRONMENT": "production",
    "SECRET_KEY": "k3Jr9pYyq0WcP5vTn8LxZbQeHs7AdMfUgR1oKi4NjVwXtBmCzE",
    "FIELD_ENCRYPTION_KEYS": "IT8Pjehttgv9oXKa2aMa_U1f4fgC-nYwGGRDXvORRVA=",
    "DATABASE_URL": "postgresql://app:secret-word@db.example.com/app",
    "REDIS_URL": "redis://redis.example.com:6379/0",
    "PUBLIC_URL": "https://app.example.com",
    "EMAIL_HOST": "mail.example.com",
    "MEDIA_DIRECTORY": "/srv/media",
}
NEEDED = sorted(PRODUCTION.keys() - {"ENVIRONMENT"})


def test_a_production_with_all_it_needs_starts(complaints: Complaints) -> None:
    assert complaints(PRODUCTION) == ""


def test_everything_that_is_missing_is_named_at_once(complaints: Complaints) -> None:
    said = complaints({})
    assert [name for name in NEEDED if f"{name} is not set" not in said] == []


def test_files_are_kept_in_a_directory_that_is_named_or_in_a_bucket(complaints: Complaints) -> None:
    """Beside the code they would be gone with the next version, and no other host would have them."""
    nowhere = {name: value for name, value in PRODUCTION.items() if name != "MEDIA_DIRECTORY"}
    assert "MEDIA_DIRECTORY is not set: workspaces' files are kept there, or in a MEDIA_BUCKET." in complaints(nowhere)
    assert complaints(nowhere | {"MEDIA_BUCKET": "files"}) == ""
    assert complaints(nowhere | {"ENVIRONMENT": "development"}) == ""


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("ENVIRONMENT", "prod", "ENVIRONMENT must be one of production, development, test, not 'prod'."),
        ("DATABASE_URL", "postgres//app:secret-word@db", "DATABASE_URL is not an address such as postgresql://"),
        ("LOG_LEVEL", "LOUD", "LOG_LEVEL must be one of INFO, DEBUG, WARNING, ERROR, CRITICAL, not 'LOUD'."),
        ("HSTS_SECONDS", "a year", "HSTS_SECONDS must be a whole number, not 'a year'."),
        ("EMAIL_USE_TLS", "yes", "EMAIL_USE_TLS must be true or false, not 'yes'."),
        ("TRUSTED_PROXIES", "10.0.0.0/33", "TRUSTED_PROXIES holds '10.0.0.0/33', which is not a network"),
        ("MAIL_KEPT_DAYS", "0", "MAIL_KEPT_DAYS must be 1 or more, not 0."),
        ("MESSAGES_KEPT_DAYS", "29", "MESSAGES_KEPT_DAYS must be 30 or more, not 29."),
        ("ACTIVITY_KEPT_DAYS", "29", "ACTIVITY_KEPT_DAYS must be 30 or more, not 29."),
    ],
)
def test_what_is_malformed_is_said_to_be(name: str, value: str, sentence: str, complaints: Complaints) -> None:
    said = complaints({**PRODUCTION, name: value})
    assert sentence in said
    assert "secret-word" not in said


INTERNET = "which is much of the internet: name your own networks."
GUESSED = "holds a default password"
FERNET = "FIELD_ENCRYPTION_KEYS holds what is no Fernet key, or one that was not made at random."
ORIGIN = "PUBLIC_URL must be https:// and a host, and no more"
# What each variable must not be in production, and the sentence that names it.
DANGEROUS = [
    ("SECRET_KEY", "k3Jr9pYyq0WcP5vTn8LxZb", "SECRET_KEY is short, repetitive or an example"),
    ("SECRET_KEY", "x" * 64, "SECRET_KEY is short, repetitive"),
    ("SECRET_KEY", "correct-horse-" * 6, "SECRET_KEY is short, repetitive"),
    ("SECRET_KEY", "0" * 40 + "abcdefghij1234", "SECRET_KEY is short, repetitive"),
    ("SECRET_KEY", "django-insecure-" + PRODUCTION["SECRET_KEY"], "SECRET_KEY is short, repetitive or an example"),
    ("FIELD_ENCRYPTION_KEYS", "not a key", FERNET),
    ("FIELD_ENCRYPTION_KEYS", "A" * 43 + "=", FERNET),
    ("FIELD_ENCRYPTION_KEYS", "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=", FERNET),
    ("FIELD_ENCRYPTION_KEYS", PRODUCTION["FIELD_ENCRYPTION_KEYS"] + "," + "A" * 43 + "=", FERNET),
    ("PUBLIC_URL", "http://app.example.com", ORIGIN),
    ("PUBLIC_URL", "app.example.com", ORIGIN),
    ("PUBLIC_URL", "https://app.example.com/agency", ORIGIN),
    ("PUBLIC_URL", "https://user@app.example.com", ORIGIN),
    ("PUBLIC_URL", "https://*", ORIGIN),
    ("HOSTS", "*", "HOSTS must name the hosts"),
    ("HOSTS", "app.example.com, .com", "HOSTS must name the hosts"),
    ("HOSTS", "*.example.com", "HOSTS must name the hosts"),
    ("TRUSTED_PROXIES", "0.0.0.0/0", f"TRUSTED_PROXIES holds '0.0.0.0/0', {INTERNET}"),
    ("TRUSTED_PROXIES", "10.0.0.0/8, ::/0", f"TRUSTED_PROXIES holds '::/0', {INTERNET}"),
    ("TRUSTED_PROXIES", "0.0.0.0/1,128.0.0.0/1", f"TRUSTED_PROXIES holds '128.0.0.0/1', {INTERNET}"),
    ("TRUSTED_PROXIES", "::ffff:0.0.0.0/96", f"TRUSTED_PROXIES holds '::ffff:0.0.0.0/96', {INTERNET}"),
    ("WEBHOOK_ALLOWED_NETWORKS", "0.0.0.0/0", f"WEBHOOK_ALLOWED_NETWORKS holds '0.0.0.0/0', {INTERNET}"),
    ("WEBHOOK_ALLOWED_NETWORKS", "::/0", f"WEBHOOK_ALLOWED_NETWORKS holds '::/0', {INTERNET}"),
    ("WEBHOOK_ALLOWED_NETWORKS", "10.0.0.0/8,169.254.169.254/32", "WEBHOOK_ALLOWED_NETWORKS reaches link-local"),
    ("DEBUG", "true", "DEBUG must not be on"),
    ("DATABASE_URL", "postgresql://app:postgres@db.example.com/app", f"DATABASE_URL {GUESSED}"),
    ("DATABASE_URL", "postgresql://app:App@db.example.com/main", f"DATABASE_URL {GUESSED}"),
    ("DATABASE_URL", "host=db.example.com dbname=main user=app password=main", f"DATABASE_URL {GUESSED}"),
    ("REDIS_URL", "redis://:changeme@redis.example.com/0", f"REDIS_URL {GUESSED}"),
    ("CELERY_BROKER_URL", "amqp://guest:guest@mq.example.com//", f"CELERY_BROKER_URL {GUESSED}"),
    ("MEDIA_DIRECTORY", "media", "MEDIA_DIRECTORY must be a whole path"),
    ("META_GRAPH_URL", "http://here", "META_GRAPH_URL must begin with https://"),
    ("META_DIALOG_URL", "http://here", "META_DIALOG_URL must begin with https://"),
    ("STRIPE_API_URL", "http://here", "STRIPE_API_URL must begin with https://"),
]
# What looks like it and is right.
HARMLESS = {
    "HOSTS": ".app.example.com, app.example.org",
    "TRUSTED_PROXIES": "10.0.0.0/8,fc00::/7,::1/128,104.16.0.0/13",
    "WEBHOOK_ALLOWED_NETWORKS": "192.168.0.0/16",
    "PUBLIC_URL": "https://app.example.com:8443/",
    "DEBUG": "false",
    "DATABASE_URL": "postgresql:///app?host=/run/postgresql",
    "REDIS_URL": "unix:///run/redis/redis.sock?db=0",
    "FIELD_ENCRYPTION_KEYS": f"{PRODUCTION['FIELD_ENCRYPTION_KEYS']}, 2Hb4v0lLbE2yWNkFo6_ReIZ8hM1xnU3RjcJrQd7T-Ag=",
    "EMAIL_HOST": "localhost",
    "EMAIL_USE_TLS": "false",
    "EMAIL_HOST_PASSWORD": "secret-word",
    "ACTIVITY_KEPT_DAYS": "30",
    "HSTS_SECONDS": "0",
}


def rounds() -> list[list[tuple[str, str, str]]]:
    """The table in as few starts as it takes: each variable has one value at a time."""
    made: list[list[tuple[str, str, str]]] = []
    for row in DANGEROUS:
        free = next((one for one in made if row[0] not in {name for name, _, _ in one}), None)
        made.append([row]) if free is None else free.append(row)
    return made


@pytest.mark.parametrize("rows", rounds(), ids=lambda rows: f"{len(rows)} settings")
def test_a_production_with_a_dangerous_setting_does_not_start(
    rows: list[tuple[str, str, str]], complaints: Complaints
) -> None:
    said = complaints(PRODUCTION | {name: value for name, value, _ in rows})
    assert [sentence for _, _, sentence in rows if sentence not in said] == []
    *lines, _ = said.partition("ImproperlyConfigured: ")[2].splitlines()
    assert {line.split()[0] for line in lines} == {name for name, _, _ in rows}
    assert not any(secret in said for secret in ("postgres@", "changeme", "guest", "horse", "A" * 43))


def test_a_password_for_mail_is_not_sent_in_the_clear(complaints: Complaints) -> None:
    clear = {"EMAIL_HOST_PASSWORD": "secret-word", "EMAIL_USE_TLS": "false"}
    assert "EMAIL_HOST_PASSWORD goes to EMAIL_HOST in the clear" in complaints(PRODUCTION | clear)


def test_what_only_looks_dangerous_starts(complaints: Complaints) -> None:
    assert complaints(PRODUCTION | HARMLESS) == ""


def test_development_starts_with_what_production_refuses(complaints: Complaints) -> None:
    """All but networks that hold the internet, which nobody needs anywhere."""
    wide = ("TRUSTED_PROXIES", "WEBHOOK_ALLOWED_NETWORKS")
    rows = {name: value for name, value, _ in reversed(DANGEROUS) if name not in wide}
    assert complaints(PRODUCTION | rows | {"ENVIRONMENT": "development"}) == ""
    assert INTERNET in complaints(PRODUCTION | {"ENVIRONMENT": "development", "TRUSTED_PROXIES": "0.0.0.0/0"})


def test_commands_and_servers_refuse_to_start_with_the_same_words() -> None:
    """The message is all that a start prints: no trace hides it."""
    environment = {"PATH": os.environ["PATH"], **PRODUCTION, "SECRET_KEY": "short"}
    done = subprocess.run(
        [sys.executable, "manage.py", "migrate"], capture_output=True, text=True, cwd=ROOT, env=environment, check=False
    )
    assert done.returncode != 0
    assert "SECRET_KEY is short" in done.stderr


def test_a_production_that_refuses_to_start_names_the_file_with_its_settings(complaints: Complaints) -> None:
    [file] = re.findall(
        r"^EnvironmentFile=(\S+)$", (ROOT / "deploy/systemd/agency-.service.d/common.conf").read_text(), re.MULTILINE
    )
    said = complaints({**PRODUCTION, "SECRET_KEY": "short"})
    assert f"In production they stand in {file}, or in the file of --env-file for Compose." in said
    assert "make run" not in said
    assert file in complaints({})
    assert "`make run` sets all of them" in complaints({})
    assert "`make run` sets all of them" in complaints({"ENVIRONMENT": "development"})
    assert file not in complaints({"ENVIRONMENT": "development"})


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
