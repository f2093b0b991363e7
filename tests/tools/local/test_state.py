"""The state folder belongs to one process at a time; what lies in it is whole and private."""

import stat
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from tools.local import state as folders
from tools.local.errors import AlreadyRunning
from tools.local.state import empty, held, is_held, read_json, throwaway, write_private
from tools.local.variables import development_variables, kept_secrets


def test_a_folder_is_held_until_its_holder_lets_go(state: Path) -> None:
    assert not is_held(state)
    with held(state) as folder:
        assert is_held(folder)
        with pytest.raises(AlreadyRunning, match="already running from this checkout"), held(state):
            pass
    assert not is_held(state)


def test_a_short_look_at_the_lock_turns_no_start_away(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends when the start has found the folder held, and waits to try once more."""
    looking, tried = threading.Event(), threading.Event()

    def wait(seconds: float) -> None:
        tried.set()
        time.sleep(seconds)

    def look() -> None:
        with held(state):
            looking.set()
            tried.wait(60)

    assert folders.LOCK_SECONDS > 0.1
    monkeypatch.setattr(folders, "LOCK_SECONDS", 60.0)
    monkeypatch.setattr(folders, "time", SimpleNamespace(monotonic=time.monotonic, sleep=wait))
    looker = threading.Thread(target=look)
    looker.start()
    assert looking.wait(60)
    try:
        with held(state):
            assert tried.is_set()
    finally:
        tried.set()
        looker.join()


def test_throw_away_folders_are_numbered_while_others_are_in_use_and_emptied_afterwards(tmp_path: Path) -> None:
    with throwaway(tmp_path / "base") as first, throwaway(tmp_path / "base") as second:
        assert [first.name, second.name] == ["base", "base-2"]
        (second / "data").mkdir()
        (second / "file").touch()
    assert [path.name for path in second.iterdir()] == ["lock"]


def test_a_throw_away_folder_starts_empty(tmp_path: Path) -> None:
    (tmp_path / "base" / "left").mkdir(parents=True)
    with throwaway(tmp_path / "base") as folder:
        assert not (folder / "left").exists()


def test_emptying_does_not_follow_links(tmp_path: Path) -> None:
    outside, folder = tmp_path / "outside", tmp_path / "folder"
    outside.mkdir()
    (outside / "precious").touch()
    folder.mkdir()
    (folder / "link").symlink_to(outside)
    empty(folder)
    assert (outside / "precious").exists()
    assert not list(folder.iterdir())


def test_a_private_file_is_replaced_whole(tmp_path: Path) -> None:
    file = tmp_path / "file.json"
    write_private(file, '{"a": 1}')
    write_private(file, '{"a": 2}')
    assert read_json(file) == {"a": 2}
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["file.json"]


@pytest.mark.parametrize("text", ["", "{", "[1]"])
def test_a_file_without_an_object_reads_as_empty(tmp_path: Path, text: str) -> None:
    (tmp_path / "file").write_text(text)
    assert read_json(tmp_path / "file") == {}


def test_secrets_are_made_once(tmp_path: Path) -> None:
    assert kept_secrets(tmp_path) == kept_secrets(tmp_path)
    (tmp_path / "other").mkdir()
    assert kept_secrets(tmp_path) != kept_secrets(tmp_path / "other")


def test_what_the_environment_says_goes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ENVIRONMENT", "WEBHOOK_ALLOWED_NETWORKS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PUBLIC_URL", "https://tunnel.example.com")
    variables = development_variables(tmp_path, port=8123)
    assert variables["PUBLIC_URL"] == "https://tunnel.example.com"
    assert variables["ENVIRONMENT"] == "development"
    assert variables["PORT"] == "8123"
    assert variables["WEBHOOK_ALLOWED_NETWORKS"] == "127.0.0.0/8,::1/128"
