"""Makes the first agency of an installation, with everything needed to try the system. It is safe to run again."""

from config.operations.bootstrap.installation import Installation, bootstrap

__all__ = ["Installation", "bootstrap"]
