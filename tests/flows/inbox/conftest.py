"""A web server for the stories of the inbox, the network that calls it, and the inbox of a workspace's owner."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from tests.config.serving.web import reserved_port, running_web
from tests.factories import ChannelFactory
from tests.flows.inbox.opened import Server, inbox_of
from tests.processes import own_processes
from tests.tenants import Tenant
from tools.sandbox import SandboxConfig, open_sandbox
from workspaces.subaccounts.models import Channel


@pytest.fixture
def channel(a: Tenant) -> Channel:
    return ChannelFactory.create(workspace=a.workspace)


@pytest.fixture(scope="package")
def server(django_db_setup: None) -> Iterator[Server]:
    """One for all stories: starting it costs more than most of them."""
    with ExitStack() as stack:
        port = stack.enter_context(reserved_port())
        config = SandboxConfig.read({}, callback_url=f"http://127.0.0.1:{port}/connect/provider-events")
        network = stack.enter_context(open_sandbox(config))
        variables = {**own_processes.variables(), **network.variables}
        yield Server(stack.enter_context(running_web("config.asgi:application", variables, port=port)), network)


@pytest.fixture(scope="package")
def shared_context(browser: Browser, server: Server) -> Iterator[BrowserContext]:
    """One for all stories, which reads styles and scripts once.

    It keeps drafts by conversation, and each story has conversations of its own.
    """
    with browser.new_context(base_url=server.url) as context:
        yield context


@pytest.fixture
def page(shared_context: BrowserContext, server: Server, a: Tenant, channel: Channel) -> Iterator[Page]:
    """The inbox of the workspace's owner."""
    with inbox_of(a, shared_context, server) as opened:
        yield opened
