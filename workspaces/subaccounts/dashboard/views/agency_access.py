"""Agency staff leave a customer's dashboard that they opened."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from workspaces.subaccounts.dashboard.surface import CustomerView
from workspaces.subaccounts.pages.agency_access import access_of, leave_access


class AgencyAccessEnd(CustomerView):
    form_page = "app:home"

    def post(self, request: HttpRequest) -> HttpResponse:
        if access_of(request, self.user) is None:
            return redirect(self.landing_page)
        workspace = leave_access(request, self.user)
        if workspace is None:
            return redirect("console:home")
        message = _("You have left the dashboard of %(name)s.") % {"name": workspace.name}
        return self.done(message, "console:sub-account", workspace.uuid)
