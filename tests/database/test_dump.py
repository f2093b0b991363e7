"""The dump that systems with servers of their own begin with."""

from pathlib import Path

import psycopg
import pytest

from tests.database.dump import StaleDump, checksum, dump, dump_path, make_cluster
from tests.processes.own_processes import database_url
from tools.local.servers.account import servers_account
from tools.local.servers.binaries import find_postgres
from tools.local.servers.postgres import Postgres
from tools.local.servers.starting import socket_folder

PROGRAMS = find_postgres().folder
pytestmark = [
    pytest.mark.slow,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not (PROGRAMS / "pg_dump").exists(), reason=f"there is no pg_dump in {PROGRAMS}"),
]
FACTS = (
    "SELECT array_agg(app || name ORDER BY app, name) FROM django_migrations",
    "SELECT array_agg(indexname ORDER BY indexname) FROM pg_indexes WHERE schemaname = 'public'",
    "SELECT array_agg(conname ORDER BY conname) FROM pg_constraint WHERE connamespace = 'public'::regnamespace",
    "SELECT array_agg(tgname ORDER BY tgname) FROM pg_trigger WHERE NOT tgisinternal",
    "SELECT count(*) FROM auth_permission",
)


def test_a_cluster_made_from_it_is_migrated_and_a_dump_of_other_migrations_is_refused(tmp_path: Path) -> None:
    dump(database_url(), tmp_path)
    state = tmp_path / "state"
    make_cluster(state, dump_path(tmp_path))
    account = servers_account()
    with socket_folder(state, account) as sockets, psycopg.connect(database_url()) as own:
        postgres = Postgres(state, sockets, account, durable=False)
        postgres.start()
        try:
            with psycopg.connect(postgres.url()) as restored:
                for fact in FACTS:
                    assert restored.execute(fact).fetchone() == own.execute(fact).fetchone()
        finally:
            postgres.stop()

    stale = dump_path(tmp_path).rename(tmp_path / f"{'0' * 64}.dump")
    with pytest.raises(StaleDump):
        make_cluster(tmp_path / "other", stale)


def test_its_name_follows_what_the_migrations_say(tmp_path: Path) -> None:
    folder = tmp_path / "app" / "migrations"
    folder.mkdir(parents=True)
    names = [checksum.__wrapped__(tmp_path)]
    for name, text in (("0001_first.py", "one"), ("0001_first.py", "two"), ("0002_next.py", "")):
        (folder / name).write_text(text)
        names.append(checksum.__wrapped__(tmp_path))
    assert len(set(names)) == 4
