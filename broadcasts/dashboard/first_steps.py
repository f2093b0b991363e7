"""The last set-up steps on the dashboard's home page: contacts, and the first message."""

from collections.abc import Iterator

from django.urls import reverse
from django.utils.translation import gettext as _

from broadcasts.services.first_message import has_sent
from workspaces.contacts.services.counting import has_contacts
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.pages.home import SetUpStep


def message_steps(workspace: Workspace) -> Iterator[SetUpStep]:
    """Yield two steps: have contacts (who may also arrive by writing first), and send something to a contact."""
    yield SetUpStep(
        title=_("Bring your contacts"),
        text=_("Import a file, or wait until somebody writes to you."),
        url=reverse("app:contact-import-new"),
        action=_("Import contacts"),
        is_done=has_contacts(workspace),
    )
    yield SetUpStep(
        title=_("Send a first message"),
        text=_("Write to somebody, or send a broadcast to many."),
        url=reverse("app:conversation-new"),
        action=_("Write"),
        is_done=has_sent(workspace),
    )
