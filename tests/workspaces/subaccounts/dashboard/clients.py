"""Customers at their browsers, and people of the agency who have opened a customer's dashboard."""

from django.test import Client

from tests.agency.console.browsers import a_browser, at_the_console
from tests.factories import WorkspaceMemberFactory
from workspaces.subaccounts.models import Workspace


def dashboard_client(workspace: Workspace) -> Client:
    """The browser of the workspace's owner, who has signed in."""
    return a_browser(workspace.owner)


def member_client(workspace: Workspace) -> Client:
    """The browser of somebody else who works in the workspace."""
    return a_browser(WorkspaceMemberFactory.create(workspace=workspace).user)


def agency_client(workspace: Workspace, role: str = "admin") -> Client:
    """The browser of somebody of the agency who has opened the workspace as customer."""
    browser = at_the_console(workspace.agency, role)
    opened = browser.post(f"/console/sub-accounts/{workspace.uuid}/open")
    assert opened.status_code == 302
    assert opened["Location"] == "/app/"
    return browser


def pickers(name: str, *hours: str) -> dict[str, str]:
    """What a form sends for a field of hours, such as `09:00-17:00`."""
    pairs = [one.partition("-") for one in hours]
    starts = {f"{name}_{row}_from": start for row, (start, _, _) in enumerate(pairs)}
    return starts | {f"{name}_{row}_until": end for row, (_, _, end) in enumerate(pairs)}
