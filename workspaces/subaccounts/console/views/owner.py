"""Replace a sub-account's owner, or invite the owner again."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _

from agency.console.base import FormPage
from agency.pages.branding import in_page_language
from workspaces.subaccounts.console.forms import OwnerForm
from workspaces.subaccounts.console.views.sub_account import PAGE, OneSubAccount
from workspaces.subaccounts.services import OwnerHasPassword, change_owner, invite_owner_again


class OwnerChange(OneSubAccount, FormPage[OwnerForm]):
    def make_form(self, data: Any = None) -> OwnerForm:
        initial = {"name": self.workspace.owner_name, "email": self.workspace.owner_email}
        return OwnerForm(data, initial=initial)

    def save(self, form: OwnerForm) -> HttpResponse:
        self.workspace = change_owner(workspace=self.workspace, now=timezone.now(), by=self.by, **form.cleaned_data)
        message = _("%(owner)s is the owner of %(name)s.")
        return self.done(
            message % {"owner": self.workspace.owner_name, "name": self.workspace.name}, PAGE, self.workspace.uuid
        )

    def context(self) -> dict[str, Any]:
        return {
            "crumbs": self.crumbs(),
            "heading": _("Owner of %(name)s") % {"name": self.workspace.name},
            "text": _("The present owner loses access. The new one is asked first, unless they belong to your agency."),
            "submit": _("Save owner"),
        }


class OwnerInvite(OneSubAccount):
    """Sends the owner another invitation, from the button on the sub-account's page."""

    creates = True
    form_page = PAGE

    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        try:
            invite_owner_again(workspace=self.workspace, now=timezone.now(), by=self.by)
        except OwnerHasPassword as refusal:
            messages.warning(request, in_page_language(refusal.message))
            return redirect(PAGE, self.workspace.uuid)
        return self.back(_("The owner of %(name)s is invited again."))
