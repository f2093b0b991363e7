"""This app's registrations."""

from django.utils.translation import gettext_lazy as _

from agency.pages.registry import MenuEntry, Section, dashboard_menu
from workspaces.appointments.dashboard.panels import appointments_of_contact
from workspaces.contacts.pages import ContactPanel, contact_panels

dashboard_menu.add(
    MenuEntry(url_name="app:calendar", label=_("Calendar"), icon="calendar", section=Section.CATALOGUE, order=43)
)
contact_panels.add(
    ContactPanel(
        name="appointments",
        order=5,
        template="appointments/_contact_panel.html",
        inbox_template="appointments/_inbox_panel.html",
        content=appointments_of_contact,
    )
)
