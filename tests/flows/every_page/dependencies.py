"""What a page is made of: the templates, files and code of ours that were used while it was loaded."""

import ast
import re
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any, Final

import pytest
from django.conf import settings
from django.contrib.staticfiles import finders
from django.core.handlers.wsgi import WSGIHandler, get_path_info
from django.template import engines
from django.test.signals import template_rendered

from agency.pages.help import guides
from agency.pages.registry import console_menu, dashboard_menu, render_menu_once
from config.hooks import Registry
from tools.local import ROOT
from workspaces.subaccounts.pages.menu import menu_counts

PACKAGES: Final = ("agency", "broadcasts", "channelconnect", "config", "packs", "webhooks", "workspaces")
# The layers of the import contract (pyproject.toml) that make pages. What is below them is tested without a browser.
PAGE_LAYERS: Final = frozenset(
    (
        "hooks",
        "templatetags",
        "console",
        "dashboard",
        "account",
        "public",
        "sign_up",
        "pages",
        "request_actor",
        "filters",
    )
)
OTHER_LAYERS: Final = frozenset(("apps", "admin", "management", "api", "serializers", "documented_events", "metrics"))
# The one page that the API itself shows.
REFERENCE: Final = "config/api/documents/"
# They import every page of their app, and no page is made of all others.
IMPORT_EVERYTHING: Final = ("hooks.py", "urls.py")
REGISTRY: Final = re.compile(r"^(\w+) = Registry\[", re.MULTILINE)
# What every page reads for its menu and its link to the help; the frames are looked at for that.
IN_FRAMES: Final = (console_menu, dashboard_menu, menu_counts, guides)
READING: Final = (Registry.__iter__.__code__, Registry.get.__code__)
# Python 3.11 lets one thread of a process change its profile function at a time, and raises RuntimeError in the others.
PROFILE_LOCK = threading.Lock()
LOAD: Final = re.compile(r"{%\s*load\s+(.*?)%}")


def makes_pages(path: str) -> bool:
    """Whether a Python file is of a layer that makes pages."""
    parts = Path(path).with_suffix("").parts
    is_in_layer = OTHER_LAYERS.isdisjoint(parts) and not PAGE_LAYERS.isdisjoint(parts)
    return parts[0] in PACKAGES and path.endswith(".py") and (is_in_layer or path.startswith(REFERENCE))


class Imports:
    """Which files of the pages' layers each of them imports: forms and words, of which nothing may run in a request."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @cached_property
    def _files(self) -> dict[str, str]:
        """Every file of those layers by the name of its module."""
        paths = [path for package in PACKAGES for path in (self.root / package).rglob("*.py")]
        files = filter(makes_pages, (path.relative_to(self.root).as_posix() for path in paths))
        return {file.removesuffix(".py").removesuffix("/__init__").replace("/", "."): file for file in files}

    @property
    def hooks(self) -> set[str]:
        """What each app adds to menus and to pages of others."""
        return {file for file in self._files.values() if file.endswith("/hooks.py")}

    def registries(self) -> list[Registry[Any]]:
        """Where apps add to pages; a layer of pages declares it."""
        return [
            getattr(import_module(module), name)
            for module, file in self._files.items()
            for name in REGISTRY.findall((self.root / file).read_text())
        ]

    def _imported_by(self, file: str) -> set[str]:
        names = set()
        for node in ast.walk(ast.parse((self.root / file).read_text())):
            if isinstance(node, ast.ImportFrom) and node.module:
                names |= {node.module, *(f"{node.module}.{name.name}" for name in node.names)}
            elif isinstance(node, ast.Import):
                names |= {name.name for name in node.names}
        return {self._files[name] for name in names & self._files.keys()}

    def with_imported(self, files: Iterable[str]) -> set[str]:
        """Give the files with all that they import, and what that imports."""
        found: set[str] = set()
        waiting = set(files)
        while waiting:
            file = waiting.pop()
            found.add(file)
            if not file.endswith(IMPORT_EVERYTHING):
                waiting |= self._imported_by(file) - found
        return found


class Recorder:
    """Records what the server of the tests uses for one page after another; the browser must not keep any file."""

    def __init__(self, root: Path = ROOT) -> None:
        self.root = root
        self.began = time.time_ns()
        self._page: str | None = None
        self._used: defaultdict[str, set[str]] = defaultdict(set)
        self._with_hooks: set[str] = set()
        self._of_request = threading.local()
        self._imports = Imports(root)
        in_frames = {id(registry) for registry in IN_FRAMES}
        self._registries = {id(registry) for registry in self._imports.registries()} - in_frames

    @property
    def pages(self) -> set[str]:
        return set(self._used)

    @contextmanager
    def page(self, name: str) -> Iterator[None]:
        """Count what is requested in the block as a part of a page, with the menu that is written only once."""
        render_menu_once.cache_clear()
        self._page = name
        self._used[name] |= set()
        try:
            yield
        finally:
            self._page = None

    def made_of(self, page: str, *, with_hooks: bool = False) -> list[str]:
        """Give the files that a page is made of, below the root.

        With hooks are the frames, of which the menus are looked at, and each page that has read from another registry
        of the pages' layers: what an app adds there is often no more than declared, and any app may add to it.
        """
        paths = [Path(name) for name in self._used[page] if name.startswith(f"{self.root}/")]
        files = {path.relative_to(self.root).as_posix() for path in paths}
        others = {file for file in files if not file.endswith(".py") and not file.startswith(".venv")}
        code = {*filter(makes_pages, files), *self.tags_of(others)}
        if with_hooks or page in self._with_hooks:
            code |= self._imports.hooks
        return sorted(others | self._imports.with_imported(code))

    def tags_of(self, files: Iterable[str]) -> Iterator[str]:
        """Give the tags and filters that templates load: some of them run once and are remembered."""
        modules = engines["django"].engine.libraries  # type: ignore[attr-defined]  # Django's own engine
        for file in files:
            if file.endswith(".html"):
                for names in LOAD.findall((self.root / file).read_text()):
                    tags = (f"{modules[name].replace('.', '/')}.py" for name in names.split() if name in modules)
                    yield from filter(makes_pages, tags)

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Record the requests that begin in the block."""
        template_rendered.connect(self._template_rendered)
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(WSGIHandler, "__call__", self._recorded(WSGIHandler.__call__))
            yield
        template_rendered.disconnect(self._template_rendered)

    def _template_rendered(self, template: Any, **_: Any) -> None:
        """Take note of a template; those that it extends and includes are told of in the same way."""
        used = getattr(self._of_request, "used", None)
        if used is not None:
            used.add(template.origin.name)

    def _recorded(self, answer: Callable[..., Any]) -> Callable[..., Any]:
        def recorded(handler: WSGIHandler, environ: dict[str, Any], start_response: Any) -> Any:
            page = self._page
            if page is None:
                return answer(handler, environ, start_response)
            used = self._of_request.used = self._used[page]
            path = get_path_info(environ)
            if path.startswith(settings.STATIC_URL):
                used.add(str(finders.find(path.removeprefix(settings.STATIC_URL))))
            self._set_profile(self._noted(page))
            try:
                return answer(handler, environ, start_response)
            finally:
                self._set_profile(None)
                self._of_request.used = None

        return recorded

    @staticmethod
    def _set_profile(note: Callable[[FrameType, str, Any], None] | None) -> None:
        with PROFILE_LOCK:
            sys.setprofile(note)

    def _noted(self, page: str) -> Callable[[FrameType, str, Any], None]:
        """Take note of every file of which something is called for a page, and of reading from registries."""
        used = self._used[page]

        def note(frame: FrameType, event: str, argument: Any) -> None:
            code = frame.f_code
            used.add(code.co_filename)
            is_reading = event == "call" and (code is READING[0] or code is READING[1])
            if is_reading and id(frame.f_locals["self"]) in self._registries:
                self._with_hooks.add(page)

        return note
