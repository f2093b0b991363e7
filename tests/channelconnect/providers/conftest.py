"""One sandbox for all tests of the folder, forgetful between them."""

from collections.abc import Iterator

import pytest

from tests.channelconnect.providers.customers import REDIRECT_URI, SHORT, Customer
from tools.sandbox import RunningSandbox, SandboxConfig, open_sandbox


@pytest.fixture(scope="session")
def running_sandbox() -> Iterator[RunningSandbox]:
    with open_sandbox(SandboxConfig.read({}, redirect_uris=(REDIRECT_URI,))) as sandbox:
        yield sandbox


@pytest.fixture
def sandbox(running_sandbox: RunningSandbox) -> RunningSandbox:
    running_sandbox.reset()
    return running_sandbox


@pytest.fixture
def customer(sandbox: RunningSandbox) -> Customer:
    return Customer(sandbox)


@pytest.fixture
def hurried(sandbox: RunningSandbox) -> Customer:
    """A customer whose client has short limits."""
    return Customer(sandbox, SHORT)
