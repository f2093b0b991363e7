"""The console page that installs a pack into a sub-account."""

from typing import Any

from django import forms
from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from agency.console.base import FormPage
from config.api.requests import parse_uuid
from packs.services import install_pack
from packs.services.errors import PackNotFound
from packs.services.offered_packs import OfferedPack, offered_packs
from workspaces.subaccounts.console.views.sub_account import PAGE, OneSubAccount


class PackInstallForm(forms.Form):
    """A choice of one pack of the sub-account's gallery."""

    pack = forms.ChoiceField(label=gettext_lazy("Pack"), widget=forms.RadioSelect)

    def __init__(self, *args: Any, packs: list[OfferedPack], **options: Any) -> None:
        super().__init__(*args, **options)
        choice = self.fields["pack"]
        assert isinstance(choice, forms.ChoiceField)  # noqa: S101  # tells the type checker what is declared above
        choice.choices = [(str(pack.uuid), pack.name) for pack in packs]


class PackInstallFor(OneSubAccount, FormPage[PackInstallForm]):
    """Adds the pack's automations that the sub-account lacks, switched off, exactly as its owner's install does."""

    def make_form(self, data: Any = None) -> PackInstallForm:
        return PackInstallForm(data, packs=offered_packs(self.workspace))

    def save(self, form: PackInstallForm) -> HttpResponse:
        uuid = parse_uuid(form.cleaned_data["pack"])
        if uuid is None:
            raise PackNotFound
        done = install_pack(workspace=self.workspace, pack=uuid, now=timezone.now(), by=self.by)
        count = len(done.added)
        if not count:
            return self.back(_("Nothing was added: %(name)s has all of it, or no channel that fits."))
        message = ngettext(
            "%(count)s automation was added to %(name)s, switched off.",
            "%(count)s automations were added to %(name)s, switched off.",
            count,
        )
        return self.done(message % {"count": count, "name": self.workspace.name}, PAGE, self.workspace.uuid)

    def context(self) -> dict[str, Any]:
        return {
            "crumbs": self.crumbs(),
            "heading": _("Install a pack for %(name)s") % {"name": self.workspace.name},
            "text": _("Its automations are added switched off. What is there already stays as it is."),
            "submit": _("Install"),
        }
