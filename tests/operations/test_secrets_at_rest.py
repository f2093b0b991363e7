"""Secrets at rest: checked before a start, and brought under a new key while the system works."""

import io
import random
import threading
from typing import Any

import pytest
from cryptography.fernet import Fernet
from django.conf import LazySettings
from django.core.checks import run_checks
from django.core.management import CommandError, call_command
from django.core.management.base import SystemCheckError
from django.db import OperationalError, connection, connections, transaction
from django.utils import timezone

from agency.actors import SYSTEM
from agency.models import Agency
from agency.services import create_agency
from agency.tenants import Tenant as Owner
from channelconnect.models import ChannelCredential
from config.encryption import Ciphertext, UnreadableSecret
from tests.factories import ChannelFactory
from tests.tenants import Tenant
from tests.waiting import PATIENCE_SECONDS, wait_for_lock
from webhooks.models import Endpoint
from webhooks.services.endpoints import register_endpoint, remove_endpoint, rotate_secret

pytestmark = pytest.mark.slow

OLD, NEW, FOREIGN = (Fernet.generate_key().decode() for _ in range(3))
URL = "https://93.184.216.34/in"


@pytest.fixture
def agency(db: None) -> Agency:
    return create_agency(name="Agency", by=SYSTEM)


@pytest.fixture(autouse=True)
def _old_key(settings: LazySettings) -> None:
    settings.FIELD_ENCRYPTION_KEYS = [OLD]


def register(agency: Agency, count: int = 1) -> list[Endpoint]:
    return [
        register_endpoint(tenant=Owner(agency.pk), url=URL, events=["workspace.created"], by=SYSTEM)
        for _ in range(count)
    ]


def rotate() -> str:
    out = io.StringIO()
    call_command("rotate_encryption_keys", stdout=out)
    return out.getvalue()


def stored_secrets() -> dict[int, str | None]:
    return {endpoint.pk: endpoint.secret for endpoint in Endpoint.objects.all()}


def secret_of(endpoint: Endpoint) -> str | None:
    return Endpoint.objects.get(pk=endpoint.pk).secret


def store(endpoint: Endpoint, token: bytes) -> None:
    Endpoint.objects.filter(pk=endpoint.pk).update(secret=Ciphertext(token))


def swap(table: str, column: str) -> None:
    """Give each of a table's two rows the other's value."""
    with connection.cursor() as cursor:
        swapped = "UPDATE {0} one SET {1} = other.{1} FROM {0} other WHERE one.{1} <> other.{1}"
        cursor.execute(swapped.format(table, column))
        assert cursor.rowcount == 2


def flaws() -> set[str | None]:
    return {message.id for message in run_checks(databases=["default"])}


def test_after_a_rotation_the_old_key_is_not_needed_any_more(agency: Agency, settings: LazySettings) -> None:
    endpoints = register(agency, 3)
    remove_endpoint(endpoint=endpoints[0], now=timezone.now(), by=SYSTEM)
    before = stored_secrets()
    settings.FIELD_ENCRYPTION_KEYS = [NEW, OLD]
    assert "2 re-encrypted, 0 current" in rotate()
    settings.FIELD_ENCRYPTION_KEYS = [NEW]
    assert stored_secrets() == before


def test_a_second_rotation_finds_nothing_to_do(agency: Agency, settings: LazySettings) -> None:
    register(agency)
    settings.FIELD_ENCRYPTION_KEYS = [NEW, OLD]
    rotate()
    assert "0 re-encrypted, 1 current" in rotate()


def test_a_secret_that_no_key_opens_is_reported_and_left_alone(agency: Agency, settings: LazySettings) -> None:
    register(agency)
    settings.FIELD_ENCRYPTION_KEYS = [FOREIGN]
    foreign = register(agency)[0]
    settings.FIELD_ENCRYPTION_KEYS = [NEW, OLD]
    with pytest.raises(CommandError, match=r"webhooks\.Endpoint\.secret\. Keep the old keys"):
        rotate()
    settings.FIELD_ENCRYPTION_KEYS = [FOREIGN]
    assert Endpoint.objects.get(pk=foreign.pk).secret == foreign.secret


def test_a_secret_moved_to_another_column_is_refused(agency: Agency) -> None:
    endpoint = register(agency)[0]
    for place in ("webhooks_endpoint.other#{}:", "webhooks_endpoint.other:", "webhooks_endpoint.secret#:", ""):
        store(endpoint, Fernet(OLD).encrypt(f"{place.format(endpoint.uuid)}whsec_x".encode()))
        with pytest.raises(UnreadableSecret):
            secret_of(endpoint)


def test_secrets_swapped_between_two_rows_are_refused_and_reported(agency: Agency) -> None:
    first, second = register(agency, 2)
    swap("webhooks_endpoint", "secret")
    for endpoint in (first, second):
        with pytest.raises(UnreadableSecret, match=r"^A value of webhooks\.Endpoint\.secret belongs elsewhere\.$"):
            secret_of(endpoint)
    assert flaws() == {"operations.E002"}
    out = io.StringIO()
    with pytest.raises(CommandError, match=r"webhooks\.Endpoint\.secret"):
        call_command("rotate_encryption_keys", stdout=out)
    assert f"unreadable, by uuid: {first.uuid}, {second.uuid}" in out.getvalue()
    assert "whsec_" not in out.getvalue()


def test_tokens_of_a_connection_swapped_between_channels_are_refused(a: Tenant) -> None:
    """A credential is known by its channel, which is its primary key."""
    for number in (1, 2):
        channel = ChannelFactory.create(workspace=a.workspace, external_id=str(number))
        ChannelCredential.objects.create(channel=channel, token=f"token {number}", container_id="1")
    assert [credential.token for credential in ChannelCredential.objects.order_by("pk")] == ["token 1", "token 2"]
    swap("channelconnect_channelcredential", "token")
    for credential in ChannelCredential.objects.all():
        with pytest.raises(UnreadableSecret, match="belongs elsewhere"):
            str(credential.token)


def test_a_rotation_binds_what_was_written_before_to_its_row(agency: Agency) -> None:
    first, second = register(agency, 2)
    old_form = Fernet(OLD).encrypt(f"webhooks_endpoint.secret:{first.secret}".encode())
    store(first, old_form)
    assert secret_of(first) == first.secret
    assert "1 re-encrypted, 1 current" in rotate()
    assert stored_secrets() == {first.pk: first.secret, second.pk: second.secret}
    swap("webhooks_endpoint", "secret")
    with pytest.raises(UnreadableSecret):
        secret_of(first)


def test_a_secret_is_never_written_without_its_row(agency: Agency) -> None:
    endpoint = register(agency)[0]
    with pytest.raises(TypeError, match="bound to its row"):
        Endpoint.objects.filter(pk=endpoint.pk).update(secret="whsec_x")


def test_saving_a_row_whose_secret_nobody_read_leaves_the_secret_as_it_is(agency: Agency) -> None:
    pk = register(agency)[0].pk
    [before] = Endpoint.objects.values_list("secret", flat=True)
    endpoint = Endpoint.objects.get(pk=pk)
    endpoint.save()
    assert Endpoint.objects.values_list("secret", flat=True).get() == before
    assert Endpoint.objects.defer("secret").get(pk=pk).secret == endpoint.secret


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_rotation_under_load_loses_no_secret(settings: LazySettings) -> None:
    agency = create_agency(name="Busy", by=SYSTEM)
    endpoints = register(agency, 40)
    latest = {endpoint.pk: endpoint.secret for endpoint in endpoints}
    settings.FIELD_ENCRYPTION_KEYS = [NEW, OLD]
    done = threading.Event()

    def replace_secrets() -> None:
        try:
            while not done.is_set():
                endpoint = rotate_secret(endpoint=random.choice(endpoints), by=SYSTEM)
                latest[endpoint.pk] = endpoint.secret
        finally:
            connections.close_all()

    thread = threading.Thread(target=replace_secrets)
    thread.start()
    for _ in range(10):
        rotate()
    done.set()
    thread.join(PATIENCE_SECONDS)
    settings.FIELD_ENCRYPTION_KEYS = [NEW]
    assert stored_secrets() == latest


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("is_awaited", [True, False], ids=["while its row is awaited", "after that was given up"])
def test_a_secret_replaced_meanwhile_stays_as_it_was_replaced(settings: LazySettings, is_awaited: bool) -> None:
    agency = create_agency(name="Busy", by=SYSTEM)
    endpoint = register(agency)[0]
    settings.FIELD_ENCRYPTION_KEYS = [NEW, OLD]
    locked, given_up, replaced = threading.Event(), threading.Event(), []

    def replace_slowly() -> None:
        try:
            with transaction.atomic():
                replaced.append(rotate_secret(endpoint=endpoint, by=SYSTEM).secret)
                locked.set()
                assert wait_for_lock("transactionid") if is_awaited else given_up.wait(PATIENCE_SECONDS)
        finally:
            connections.close_all()

    thread = threading.Thread(target=replace_slowly)
    thread.start()
    assert locked.wait(PATIENCE_SECONDS)

    def watch(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        """Have the row replaced as soon as it was waited for in vain."""
        try:
            return execute(sql, params, many, context)
        except OperationalError:
            given_up.set()
            thread.join()
            raise

    with connection.execute_wrapper(watch), connection.cursor() as cursor:
        cursor.execute(f"SET lock_timeout = '{'60s' if is_awaited else '50ms'}'")
        output = rotate()
    connection.close()
    thread.join(PATIENCE_SECONDS)
    assert given_up.is_set() != is_awaited
    lines = [line for line in output.splitlines() if line.startswith("webhooks.Endpoint")]
    assert "1 changed meanwhile" in lines[0]
    assert "0 changed meanwhile" in output.splitlines()[-1]
    settings.FIELD_ENCRYPTION_KEYS = [NEW]
    assert stored_secrets() == {endpoint.pk: replaced[0]}


def test_all_is_well_with_the_key_that_encrypted(agency: Agency, settings: LazySettings) -> None:
    register(agency)
    assert not flaws()
    settings.FIELD_ENCRYPTION_KEYS = [NEW, OLD]
    assert not flaws()


def test_a_missing_key_fails_the_database_check_and_the_bootstrap(agency: Agency, settings: LazySettings) -> None:
    register(agency)
    settings.FIELD_ENCRYPTION_KEYS = [NEW]
    register(agency)
    assert flaws() == {"operations.E002"}
    with pytest.raises(SystemCheckError, match=r"webhooks\.Endpoint\.secret cannot be read"):
        call_command("bootstrap")
    assert Agency.objects.count() == 1


@pytest.mark.parametrize("keys", [[], ["not a key"]])
def test_keys_that_are_none_fail_the_check(db: None, settings: LazySettings, keys: list[str]) -> None:
    settings.FIELD_ENCRYPTION_KEYS = keys
    assert flaws() == {"operations.E001"}


def test_an_empty_database_passes_the_check(db: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE webhooks_endpoint CASCADE")
    assert not flaws()
