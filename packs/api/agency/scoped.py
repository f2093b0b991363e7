"""Looking up packs and entries among the agency's own, and the ability to copy."""

from uuid import UUID

from agency.api.surface import AgencyViewSet
from config.errors import Forbidden
from packs.models import Pack, PackEntry
from packs.services import find_entry, find_pack


class CannotCopy(Forbidden):
    message = "This API key cannot copy automations out of sub-accounts."


class PackBaseViewSet(AgencyViewSet):
    """A set of views about packs of the agency."""

    def pack_of(self, uuid: UUID | None) -> Pack:
        return find_pack(agency=self.agency, uuid=uuid)

    def entry_of(self, pack: UUID | None, entry: UUID | None) -> PackEntry:
        return find_entry(pack=self.pack_of(pack), uuid=entry)

    def require_copying(self) -> None:
        """Refuse a key without the copy ability; called before anything is looked up."""
        if not self.caller.can_copy:
            raise CannotCopy
