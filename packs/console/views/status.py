"""Console pages that publish, archive or unpublish a pack, after they say what customers will see."""

from typing import Any, ClassVar

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from agency.console.base import FormPage
from agency.pages.forms import ConfirmationForm
from agency.pages.registry import StrOrPromise
from packs.console.views.base import ONE, PackDetailView
from packs.models import Pack
from packs.services import change_pack


class StatusPage(PackDetailView, FormPage[ConfirmationForm]):
    """Asks to confirm a new status. If the pack has the status already, redirects to it."""

    status: ClassVar[Pack.Status]
    heading: ClassVar[StrOrPromise]
    submit: ClassVar[StrOrPromise]
    success_message: ClassVar[StrOrPromise]
    danger: ClassVar[bool] = False

    def get(self, request: HttpRequest, **ids: Any) -> HttpResponse:
        self.find(**ids)
        if self.pack.status == self.status:
            return redirect(ONE, self.pack.uuid)
        return self.show(self.make_form())

    def make_form(self, data: Any = None) -> ConfirmationForm:
        return ConfirmationForm(data)

    def save(self, form: ConfirmationForm) -> HttpResponse:
        change_pack(pack=self.pack, status=self.status, by=self.by)
        return self.saved(str(self.success_message))

    def effect(self) -> str:
        """Describe the change's effect in a sentence. Each subclass has its own."""
        raise NotImplementedError

    def context(self) -> dict[str, Any]:
        return {
            "crumbs": self.crumbs(),
            "heading": str(self.heading) % {"name": self.name},
            "text": self.effect(),
            "warning": self.platform_packs_warning() if self.status != Pack.Status.PUBLISHED else "",
            "submit": self.submit,
            "danger": self.danger,
        }


class PackPublish(StatusPage):
    status = Pack.Status.PUBLISHED
    heading = gettext_lazy("Publish %(name)s?")
    submit = gettext_lazy("Publish")
    success_message = gettext_lazy("%(name)s is published: customers see it now.")

    def effect(self) -> str:
        number = self.pack.entries.count()
        if not number:
            return _("It has no automations yet, so there is nothing to publish.")
        sentence = ngettext(
            "Every customer of yours sees it in their gallery at once, with %(number)s automation.",
            "Every customer of yours sees it in their gallery at once, with %(number)s automations.",
            number,
        ) % {"number": number}
        kind = self.pack.get_business_type_display()
        if not kind:
            return f"{sentence} {_('They install it themselves; nobody is given it.')}"
        same_type = Pack.objects.of(self.agency).published().filter(business_type=self.pack.business_type)
        above = same_type.filter(position__lt=self.pack.position).in_gallery_order().first()
        if above:
            given = _("New customers of the type “%(kind)s” are given %(name)s instead, as it stands higher.")
            return f"{sentence} {given % {'kind': kind, 'name': above.name}}"
        given = _("New customers of the type “%(kind)s” are given it with their first messaging channel.")
        return f"{sentence} {given % {'kind': kind}}"


class PackArchive(StatusPage):
    status = Pack.Status.ARCHIVED
    heading = gettext_lazy("Archive %(name)s?")
    submit = gettext_lazy("Archive")
    success_message = gettext_lazy("%(name)s is archived: customers no longer see it.")

    def effect(self) -> str:
        return _(
            "It disappears from your customers' galleries and is kept here; you can publish it again at any time. "
            "What customers have added from it stays as it is."
        )


class PackUnpublish(StatusPage):
    status = Pack.Status.DRAFT
    heading = gettext_lazy("Make %(name)s a draft?")
    submit = gettext_lazy("Make it a draft")
    success_message = gettext_lazy("%(name)s is a draft: customers do not see it.")

    def effect(self) -> str:
        return _("Customers do not see drafts. What they have added from it stays as it is.")
