"""The sandbox and the customer at it, as the tests of the real clients have them."""

from tests.channelconnect.providers.conftest import customer, running_sandbox, sandbox

__all__ = ["customer", "running_sandbox", "sandbox"]
