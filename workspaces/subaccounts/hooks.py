"""What sub-accounts add to the console, the dashboard and the activity log."""

from collections.abc import Iterable
from datetime import timedelta

from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from agency.console.activity_words import register_actions, register_page
from agency.console.navigation import Entry, Section, register_entry
from agency.console.overview import Figure, Step, register_figures, register_step
from agency.models import Agency
from workspaces.subaccounts.dashboard.navigation import Entry as DashboardEntry
from workspaces.subaccounts.dashboard.navigation import register_entry as register_dashboard_entry
from workspaces.subaccounts.models import Workspace

RECENTLY = timedelta(days=30)
ACTIONS = {
    "workspace.created": _("Sub-account created"),
    "workspace.changed": _("Sub-account edited"),
    "workspace.suspended": _("Sub-account suspended"),
    "workspace.restored": _("Sub-account restored"),
    "plan.assigned": _("Plan assigned"),
    "addon.granted": _("Add-on granted"),
    "addon.revoked": _("Add-on revoked"),
    "channel.connected": _("Channel connected"),
    "workspace_key.created": _("Workspace API key created"),
    "workspace_key.revoked": _("Workspace API key revoked"),
}


def figures(agency: Agency) -> Iterable[Figure]:
    """The total comes from the agency's own count."""
    own = Workspace.objects.of(agency)
    most = agency.max_sub_accounts
    yield Figure(
        label=_("Sub-accounts"),
        value=agency.sub_account_count,
        note=_("of %(most)s allowed") % {"most": f"{most:,}"} if most is not None else "",
        url_name="console:sub-accounts",
        order=10,
    )
    yield Figure(
        label=_("New in 30 days"),
        value=own.filter(created_at__gte=timezone.now() - RECENTLY).count(),
        url_name="console:sub-accounts",
        order=15,
    )
    yield Figure(
        label=_("Suspended"),
        value=own.filter(status=Workspace.Status.SUSPENDED).count(),
        url_name="console:sub-accounts",
        query="?status=suspended",
        order=20,
    )


def register() -> None:
    register_entry(
        Entry(url_name="console:sub-accounts", label=_("Sub-accounts"), icon="accounts", section=Section.MAIN, order=20)
    )
    register_dashboard_entry(DashboardEntry(url_name="app:channels", label=_("Channels"), icon="connect", order=30))
    register_step(
        Step(
            title=_("Create a sub-account"),
            text=_("A customer's workspace, with its owner. An existing API integration can do this too."),
            url_name="console:sub-account-new",
            action=_("New sub-account"),
            is_done=lambda agency: agency.sub_account_count > 0,
            order=20,
        )
    )
    register_figures(figures)
    register_actions(ACTIONS)
    register_page("workspace", "console:sub-account")
