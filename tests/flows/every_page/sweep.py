"""The pages that a run looks at: those that changed since the last whole sweep, or all of them in a whole one."""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Final

import pytest
from playwright.sync_api import Page

from agency.models import User
from tests.flows.every_page.checks import FORM, examine, examine_errors
from tests.flows.every_page.dependencies import Recorder
from tests.flows.every_page.record import Record, Tree, read_record

Open = Callable[[User | None], Page]
IS_WHOLE: Final = os.environ.get("SWEEP") == "all"


@cache
def _record_and_tree() -> tuple[Record, Tree]:
    return read_record(), Tree()


def is_wanted(page: str) -> bool:
    """Whether this run looks at a page."""
    if IS_WHOLE:
        return True
    record, tree = _record_and_tree()
    return record.has_changed(page, tree)


def sweeps(*pages: str) -> pytest.MarkDecorator:
    """Say which pages a test looks at: without one that changed it is left out, before a browser is started for it."""
    return pytest.mark.sweeps(*pages)


class Sweep:
    """Looks at pages; in a whole sweep it records what each of them is made of."""

    def __init__(self, recorder: Recorder | None = None) -> None:
        self.recorder = recorder

    @contextmanager
    def _recorded(self, name: str, page: Page) -> Iterator[None]:
        if self.recorder is None:
            yield
            return
        with self.recorder.page(name):
            yield
            page.goto("about:blank")  # what its scripts ask for later is not counted for the next page

    def open_without_cache(self, page: Page) -> None:
        """In a whole sweep, have the browser ask for every file of every page."""
        if self.recorder is not None:
            session = page.context.new_cdp_session(page)
            session.send("Network.enable")
            session.send("Network.setCacheDisabled", {"cacheDisabled": True})

    def visit(self, page: Page, addresses: Mapping[str, str]) -> list[str]:
        """Examine every page that is wanted, then the form of each with its errors; give what is wrong."""
        found, forms = [], []
        wanted = {name: address for name, address in addresses.items() if is_wanted(name)}
        for name, address in wanted.items():
            with self._recorded(name, page):
                page.goto(address)
                # What makes something is given a number for its one use.
                came = re.sub(r"[?&]form=[^&]*$", "", page.url)
                wrong = examine(page, coloured="main") if came.endswith(address) else [f"it led to {page.url}"]
                found += [f"{name}: {one}" for one in wrong]
                if page.locator(FORM).count():
                    forms.append(name)
        for name in forms:
            with self._recorded(name, page):
                page.goto(wanted[name])
                found += [f"{name}, with errors: {one}" for one in examine_errors(page)]
        return found

    def step(self, page: Page, name: str, go: Callable[[], object], look: Callable[[], list[str]]) -> list[str]:
        """Go on to a page on a way through several, and look at it if it is wanted; give what is wrong."""
        with self._recorded(name, page):
            go()
            return [f"{name}: {one}" for one in look()] if is_wanted(name) else []
