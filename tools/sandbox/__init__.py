"""The sandbox stands in for Meta's Graph API and consent screens: an HTTP server for development and tests.

It knows nothing of the product, keeps nothing on disk, and imports neither Django nor the product's clients.
"""

from tools.sandbox.config import DEVELOPMENT, SandboxConfig
from tools.sandbox.server import RunningSandbox, open_sandbox

__all__ = ["DEVELOPMENT", "RunningSandbox", "SandboxConfig", "open_sandbox"]
