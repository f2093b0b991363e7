"""Names are looked up beside the loop, in bounded time, whatever their name servers do."""

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import pytest

from config.http import resolver as resolving
from config.http.resolver import LookupFailed, Resolver, system_lookup
from tests.waiting import PATIENCE_SECONDS, until

PUBLIC = ("93.184.216.34",)
LONG_SECONDS = 600.0


class NameService:
    """The outside world's name servers: names that contain `dead` never answer until `revive`."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.answered: list[str] = []
        self._alive = threading.Event()

    def __call__(self, host: str) -> tuple[str, ...]:
        self.asked.append(host)
        if "dead" in host:
            self._alive.wait(LONG_SECONDS)
        self.answered.append(host)
        if "broken" in host:
            raise LookupFailed
        return PUBLIC

    def revive(self) -> None:
        self._alive.set()


@pytest.fixture
def service() -> Iterator[NameService]:
    service = NameService()
    yield service
    service.revive()


@pytest.fixture
def moments(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The resolvers' clock, which stands at `now` until the test moves it."""
    moments = SimpleNamespace(now=100.0)
    monkeypatch.setattr(resolving, "time", SimpleNamespace(monotonic=lambda: moments.now))
    return moments


@pytest.fixture
def make_resolver(service: NameService) -> Iterator[Callable[..., Resolver]]:
    made: list[Resolver] = []

    def make(**options: Any) -> Resolver:
        made.append(Resolver(service, **options))
        return made[-1]

    yield make
    for resolver in made:
        resolver.close()


def test_a_name_is_looked_up(make_resolver: Callable[..., Resolver]) -> None:
    assert make_resolver().resolve("hooks.acme.io") == PUBLIC


def test_a_failing_name_server_is_distinguished_from_a_missing_name(make_resolver: Callable[..., Resolver]) -> None:
    with pytest.raises(LookupFailed):
        make_resolver().resolve("broken.acme.io")


def fail(resolver: Resolver, service: NameService, moments: SimpleNamespace, host: str) -> None:
    """Have a name looked up that hangs, and its time pass once its name server has been asked."""
    answer = resolver.submit(host)
    until(lambda: host in service.asked, what="the question")
    assert not answer.done()
    moments.now += 0.2
    with pytest.raises(LookupFailed):
        answer.result(PATIENCE_SECONDS)


def test_a_look_up_that_hangs_fails_in_time(
    make_resolver: Callable[..., Resolver], service: NameService, moments: SimpleNamespace
) -> None:
    fail(make_resolver(timeout_s=0.2), service, moments, "dead.acme.io")

    assert (service.asked, service.answered) == (["dead.acme.io"], [])


def test_one_dead_domain_leaves_room_for_the_others(make_resolver: Callable[..., Resolver]) -> None:
    resolver = make_resolver(threads=4, timeout_s=LONG_SECONDS)
    dead = [resolver.submit(f"dead{number}.evil.io") for number in range(50)]

    assert resolver.resolve("hooks.acme.io") == PUBLIC
    assert not any(future.done() for future in dead)
    resolver.close()
    assert all(isinstance(future.exception(), LookupFailed) for future in dead)


def test_many_dead_domains_block_the_others_for_one_limit_at_most(
    make_resolver: Callable[..., Resolver], service: NameService
) -> None:
    resolver = make_resolver(threads=4, timeout_s=0.3)
    for number in range(4):
        resolver.submit(f"dead.evil{number}.io")

    with pytest.raises(LookupFailed):
        resolver.resolve("dead.evil0.io")
    resolver._timeout_s = LONG_SECONDS

    assert resolver.resolve("hooks.acme.io") == PUBLIC
    assert service.answered == ["hooks.acme.io"]


def test_the_number_of_threads_is_bounded_for_good(make_resolver: Callable[..., Resolver]) -> None:
    resolver = make_resolver(threads=2, timeout_s=0.03)
    before = threading.active_count()

    for number in range(12):
        with pytest.raises(LookupFailed):
            resolver.resolve(f"dead.evil{number}.io")

    assert threading.active_count() - before <= 4 * 2 + 1


def test_whoever_asks_for_the_same_name_at_once_shares_the_look_up(
    make_resolver: Callable[..., Resolver], service: NameService
) -> None:
    resolver = make_resolver(timeout_s=LONG_SECONDS)
    futures = [resolver.submit("dead.acme.io") for _ in range(20)]
    service.revive()

    assert {future.result() for future in futures} == {PUBLIC}
    assert service.asked == ["dead.acme.io"]


def test_a_name_that_still_hangs_fails_at_once(
    make_resolver: Callable[..., Resolver], service: NameService, moments: SimpleNamespace
) -> None:
    resolver = make_resolver(timeout_s=0.2)
    fail(resolver, service, moments, "dead.acme.io")

    assert resolver.submit("dead.acme.io").done()
    assert service.asked == ["dead.acme.io"]


def test_a_name_is_asked_again_once_its_servers_are_back(
    make_resolver: Callable[..., Resolver], service: NameService
) -> None:
    resolver = make_resolver(timeout_s=0.1)
    with pytest.raises(LookupFailed):
        resolver.resolve("dead.acme.io")
    service.revive()

    def answer() -> tuple[str, ...] | None:
        with suppress(LookupFailed):
            return resolver.resolve("dead.acme.io")
        return None

    assert until(answer, what="an answer") == PUBLIC


def test_nothing_is_remembered_unless_asked_for(make_resolver: Callable[..., Resolver], service: NameService) -> None:
    resolver = make_resolver()
    resolver.resolve("hooks.acme.io")
    resolver.resolve("hooks.acme.io")

    assert service.asked == ["hooks.acme.io"] * 2
    assert resolver.remembered("hooks.acme.io") is None


def test_answers_are_remembered_for_a_moment(
    make_resolver: Callable[..., Resolver], service: NameService, moments: SimpleNamespace
) -> None:
    resolver = make_resolver(ttl_s=3)
    resolver.resolve("hooks.acme.io")

    assert resolver.remembered("hooks.acme.io") == PUBLIC
    assert resolver.submit("hooks.acme.io").done()
    moments.now += 2.9
    assert resolver.remembered("hooks.acme.io") == PUBLIC
    moments.now += 0.1
    assert resolver.remembered("hooks.acme.io") is None
    assert resolver.resolve("hooks.acme.io") == PUBLIC
    assert service.asked == ["hooks.acme.io"] * 2


def test_closing_fails_what_is_still_asked(make_resolver: Callable[..., Resolver]) -> None:
    resolver = make_resolver()
    future = resolver.submit("dead.acme.io")
    resolver.close()

    assert isinstance(future.exception(timeout=60), LookupFailed)
    assert isinstance(resolver.submit("hooks.acme.io").exception(), LookupFailed)


def test_the_operating_system_knows_its_own_names() -> None:
    assert set(system_lookup("localhost")) <= {"127.0.0.1", "::1"}
    assert system_lookup("localhost")
