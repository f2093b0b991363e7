"""Lets parallel workers share the compiling of test modules: each starts to import them at a different place.

In a fresh checkout pytest rewrites the assertions of a module at its first import, and keeps the result. That takes
as long as the rest of the collection. A worker that imports a module later uses the result that another one kept.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import pytest
from _pytest.outcomes import OutcomeException  # no public name holds all of them


def pytest_collection(session: pytest.Session) -> None:
    """Import the test modules. The collection imports a module that fails here again, and reports it."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "gw0")
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    if workers < 2:
        return
    modules = list(_modules(session.config))
    first = len(modules) * int(worker.removeprefix("gw")) // workers
    for module in modules[first:] + modules[:first]:
        with suppress(Exception, OutcomeException):
            import_module(module)


def _modules(config: pytest.Config) -> Iterator[str]:
    """Give the names of the test modules among the arguments of the run."""
    for argument in dict.fromkeys(one.partition("::")[0] for one in config.args):
        path = Path(config.invocation_params.dir, argument)
        for file in sorted(path.rglob("test_*.py")) if path.is_dir() else [path]:
            if (file.parent / "__init__.py").exists() and file.is_relative_to(config.rootpath):
                yield ".".join(file.relative_to(config.rootpath).with_suffix("").parts)
