"""Breaks a module of the product the moment that it is imported; loaded into its processes by `preload`."""

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Callable, Sequence
from types import ModuleType

from tests.chaos.mutations.patches import PATCHES

Report = Callable[[str, str], None]
Patch = Callable[[ModuleType], None]


def install(name: str, report: Report) -> None:
    """Wait for the modules that a mutation breaks; one that breaks none in this process does nothing."""
    if name in PATCHES:
        sys.meta_path.insert(0, _Finder(name, PATCHES[name], report))


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, name: str, patches: dict[str, Patch], report: Report) -> None:
        self._name, self._patches, self._report = name, dict(patches), report

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        patch = self._patches.get(fullname)
        if patch is None:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is None or not isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            self._report("missing", self._name)
            raise ImportError(f"the mutation {self._name} breaks {fullname}, which is not there")
        spec.loader = _Loader(fullname, spec.loader.path, patch, lambda kind: self._report(kind, self._name))
        return spec


class _Loader(importlib.machinery.SourceFileLoader):
    """Executes the module, then breaks it; a target that is no longer there ends the process."""

    def __init__(self, fullname: str, path: str, patch: Patch, report: Callable[[str], None]) -> None:
        super().__init__(fullname, path)
        self._patch, self._report = patch, report

    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        try:
            self._patch(module)
        except Exception:
            self._report("missing")
            raise
        self._report("mutation")
