"""Customers at their browsers."""

from django.test import Client

from tests.agency.console.staff import a_browser
from workspaces.subaccounts.models import Workspace


def at_the_dashboard(workspace: Workspace) -> Client:
    """The browser of the workspace's owner, who has signed in."""
    return a_browser(workspace.owner)
