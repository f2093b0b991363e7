"""Errors of the services of packs."""

from collections.abc import Iterable

from config.errors import Conflict, InvalidInput, NotFound
from packs.models import MOST_ENTRIES


class PackNotFound(NotFound):
    message = "Pack not found."


class EntryNotFound(NotFound):
    message = "Automation not found in this pack."


class TooManyPacks(Conflict):
    message = "An agency may have at most 1,000 packs."


class NothingToPublish(InvalidInput):
    field = "status"
    message = "Add at least one automation before publishing this pack."


class NotInLibrary(InvalidInput):
    field = "template_id"
    message = "This automation is not in the library."


class CopyRefused(InvalidInput):
    """The automation cannot be copied. `errors` holds every reason."""

    field = "automation"

    def __init__(self, refusals: Iterable[str]) -> None:
        sentences = list(refusals)
        super().__init__(sentences[0])
        self.errors = {self.field: sentences}


class EntryRefused(InvalidInput):
    """A rule of packs refuses an automation. The field is `template_id`, `automation` or `name`."""


class PackIsFull(EntryRefused):
    message = f"A pack holds at most {MOST_ENTRIES} automations."


class SecondCatchAll(EntryRefused):
    message = "This pack already has an automation that answers every message or comment."


class AlreadyInPack(EntryRefused):
    message = "This library automation is already in the pack."


class NameTaken(EntryRefused):
    message = "An automation of this name is already in the pack."


class OtherChannel(EntryRefused):
    message = "This automation is for another channel than the copy that it would replace."


class NotACopy(InvalidInput):
    field = "automation"
    message = "Only a copied automation can be copied anew."


class NoNewVersion(NotFound):
    message = "There is no newer version of this automation."


class NewVersionChanged(Conflict):
    """The version that the person looked at is not the newest any more."""

    message = "There is a newer version. Check it and try again."


class CopyNeedsName(InvalidInput):
    field = "name"
    message = "A copied automation needs a name."


class NotInOrder(InvalidInput):
    """An order names a uuid that is not in the list."""

    field = "order"
