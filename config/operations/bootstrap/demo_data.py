"""The content of the demo workspace: enough to send, to answer and to book. No sample uses the same names."""

from datetime import datetime

from config.operations.bootstrap.actor import BOOTSTRAP
from workspaces.catalogue.models import Service
from workspaces.catalogue.services import create_service
from workspaces.contacts.services import create_contact
from workspaces.conversations.facts import ChannelReference, MessageReceived, Person
from workspaces.conversations.services.inbound import lock_channels, receive_messages
from workspaces.subaccounts.models import Channel, Workspace

# Such numbers are reserved for films and examples. They ring nowhere.
CONTACTS = (
    ("Nora Lindqvist", "+447700900321", "nora@demo.example"),
    ("Samuel Okafor", "+14155550142", "samuel@demo.example"),
    ("Isla McKenzie", "+61491570156", "isla@demo.example"),
)
QUESTION = "Do you have a table for two tonight?"
SERVICE = "Pilates"


def add_demo_data(workspace: Workspace, channel: Channel, *, now: datetime) -> None:
    """Add contacts, a question from the first of them, and a service that has classes."""
    for name, phone, email in CONTACTS:
        create_contact(workspace=workspace, name=name, phone=phone, email=email, now=now)
    _begin_a_conversation(channel, now)
    create_service(
        workspace=workspace, name=SERVICE, kind=Service.Kind.CLASS, duration_minutes=60, now=now, by=BOOTSTRAP
    )


def _begin_a_conversation(channel: Channel, now: datetime) -> None:
    """Let the first contact write, so that a free text may be the answer for a day."""
    workspace, (name, phone, _) = channel.workspace, CONTACTS[0]
    reference = ChannelReference(
        id=channel.pk,
        platform=channel.platform,
        workspace_id=workspace.pk,
        workspace_uuid=workspace.uuid,
        agency_id=workspace.agency_id,
    )
    person = Person(external_id=phone.removeprefix("+"), phone=phone, name=name)
    message_id = f"demo-{workspace.uuid}"
    question = MessageReceived(
        channel=reference, person=person, at=now, message_id=message_id, type="text", text=QUESTION
    )
    lock_channels([channel.pk])
    receive_messages([question], now=now)
