"""Checks an API key's ability to copy automations out of sub-accounts."""

from agency.api import AgencyViewSet
from config.errors import Forbidden


class CannotCopy(Forbidden):
    message = "This API key cannot copy automations out of sub-accounts."


class CopyingViewSet(AgencyViewSet):
    """A set of views of which some need the ability to copy."""

    def require_copying(self) -> None:
        """Refuse a key without the copy ability; called before anything is looked up."""
        if not self.caller.can_copy:
            raise CannotCopy
