"""The dashboard's actions on a broadcast: pause, resume, cancel, delete, copy."""

from collections.abc import Callable
from typing import Any, ClassVar
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.pages.forms.forms import Confirmation
from agency.pages.locale import in_page_language
from agency.pages.registry import StrOrPromise
from broadcasts.dashboard.views.broadcasts import LIST, ONE, OneBroadcast
from broadcasts.models import Broadcast
from broadcasts.services.editing.changing import delete_broadcast
from broadcasts.services.editing.copying import copy_broadcast
from broadcasts.services.moving import cancel_broadcast, pause_broadcast, resume_broadcast
from config.db import database_now
from config.errors import DomainError
from workspaces.subaccounts.dashboard.surface import DashboardForm


class BroadcastMove(OneBroadcast):
    """A button that makes one move. A refusal is shown on the broadcast's page."""

    move: ClassVar[Callable[..., Broadcast]]
    said: ClassVar[StrOrPromise]

    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        try:
            type(self).move(broadcast=self.broadcast, now=database_now(), by=self.by)
        except DomainError as error:
            messages.error(request, in_page_language(error.message))
            return redirect(ONE, self.broadcast.uuid)
        return self.done(str(self.said), ONE, self.broadcast.uuid)


class BroadcastPause(BroadcastMove):
    move = staticmethod(pause_broadcast)
    said = gettext_lazy("The broadcast is paused: what is being sent at this moment still leaves.")


class BroadcastResume(BroadcastMove):
    move = staticmethod(resume_broadcast)
    said = gettext_lazy("The broadcast goes on.")


class BroadcastDuplicate(OneBroadcast):
    """Creates a draft with the same message and audience."""

    creates = True

    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        try:
            made = copy_broadcast(broadcast=self.broadcast, now=timezone.now(), by=self.by)
        except DomainError as error:
            messages.error(request, in_page_language(error.message))
            return redirect(ONE, self.broadcast.uuid)
        return self.done(
            _("This is the copy. Look through it before you schedule it."), "app:broadcast-edit", made.uuid
        )


class BroadcastCancel(OneBroadcast, DashboardForm[Confirmation]):
    """Cancels a broadcast, after a confirmation: its unsent messages are never sent."""

    template_name = "broadcasts/cancel.html"

    def make_form(self, data: Any = None) -> Confirmation:
        return Confirmation(data)

    def save(self, form: Confirmation) -> HttpResponse:
        cancel_broadcast(broadcast=self.broadcast, now=database_now(), by=self.by)
        return self.done(_("The broadcast is cancelled."), ONE, self.broadcast.uuid)

    def context(self) -> dict[str, Any]:
        return {"broadcast": self.broadcast}


class BroadcastDelete(OneBroadcast, DashboardForm[Confirmation]):
    """Deletes a draft, after a confirmation."""

    template_name = "broadcasts/delete.html"

    def make_form(self, data: Any = None) -> Confirmation:
        return Confirmation(data)

    def save(self, form: Confirmation) -> HttpResponse:
        delete_broadcast(broadcast=self.broadcast, now=timezone.now(), by=self.by)
        return self.done(_("%(name)s was deleted.") % {"name": self.broadcast.name}, LIST)

    def context(self) -> dict[str, Any]:
        return {"broadcast": self.broadcast}
