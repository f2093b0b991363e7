"""Reads the settings anew for each line of its input, which holds variables, one start after the other.

Each start is a child of this process, which has loaded what the settings need, but nothing of the product. So that many
starts take little time.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from tests.processes.unmeasured import unmeasured
from tools.local import ROOT
from tools.local.parent_death import parent_death_signal

Complaints = Callable[[Mapping[str, str]], str]


@contextmanager
def reading_settings() -> Iterator[Complaints]:
    """Give what says what a start with some variables alone complains of; nothing where it goes well."""
    command = [*parent_death_signal(), sys.executable, "-m", "tests.operations.settings_starts"]
    environment = unmeasured(os.environ)
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin
        assert process.stdout

        def complaints(variables: Mapping[str, str]) -> str:
            assert process.stdin
            assert process.stdout
            process.stdin.write(json.dumps(dict(variables)) + "\n")
            process.stdin.flush()
            return str(json.loads(process.stdout.readline()))

        yield complaints
        process.stdin.close()


def said_by_a_start(variables: Mapping[str, str]) -> str:
    with tempfile.TemporaryFile() as faults:
        pid = os.fork()
        if pid == 0:
            os.environ.clear()
            os.environ.update(variables, PATH=os.defpath)
            os.dup2(faults.fileno(), 2)
            sys.argv = ["-c"]
            import config.settings  # noqa: F401  # reads the variables of this start, and complains

            sys.stderr.flush()
            os._exit(0)
        os.waitpid(pid, 0)
        faults.seek(0)
        return faults.read().decode()


def main() -> None:
    # Loaded only by the process that forks, so that no start loads what the settings need.
    import cryptography.fernet  # noqa: F401  # only to be loaded
    import psycopg  # noqa: F401  # the same

    assert not any(name.partition(".")[0] == "config" for name in sys.modules)
    for line in iter(sys.stdin.readline, ""):
        sys.stdout.write(json.dumps(said_by_a_start(json.loads(line))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
