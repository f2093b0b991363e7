"""Pages of notifications for console and dashboard: the list, marking as read, and preferences."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from uuid import UUID

from django import forms
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.models import Notification, User
from agency.models.notifications import DeliveryMethod
from agency.notification_kinds import NotificationKind
from agency.pages.pagination import LARGEST_ID, KeysetPage, keyset_page
from agency.pages.tables import Column, Filter, ListPage, Table
from agency.pages.views import FormView, SignedInView, person_of
from agency.services.notifications.delivery import (
    count_unread,
    mark_all_read,
    mark_read,
    notifications_of,
    preferences_of,
    set_preferences,
)
from config.api.requests import parse_clamped_number

UNREAD = "unread"
TITLE = gettext_lazy("Notifications")


def unread_counter(user: User, area: UUID, kinds: Collection[NotificationKind]) -> Callable[[], int]:
    """Return the function that counts unread notifications, so that only pages that show the number make the query."""
    return lambda: count_unread(user, area, [kind.name for kind in kinds])


class NotificationPage(SignedInView):
    """A page about a person's own notifications in one area."""

    @property
    def notification_kinds(self) -> list[NotificationKind]:
        """The kinds of which the person may be notified. Each area overrides this."""
        raise NotImplementedError

    @property
    def notification_role(self) -> str:
        """The person's role, by which the defaults differ. Each area overrides this."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class UnreadMessages:
    """How many conversations have something unread, and when the newest message came in, as an ISO time or ""."""

    count: int = 0
    newest: str = ""


class UnreadPage(NotificationPage):
    """What an open page asks for now and then, as JSON: how much is unread. It shows the number outside the tab."""

    def unread_messages(self) -> UnreadMessages:
        """Count unread messages. The dashboard overrides this."""
        return UnreadMessages()

    def record_look(self) -> None:
        """Record that the person has the messages before them. The dashboard overrides this."""

    def get(self, request: HttpRequest) -> JsonResponse:
        if "looks" in request.GET:
            self.record_look()
        count = unread_counter(person_of(request), self.area_id, self.notification_kinds)
        unread = self.unread_messages()
        return JsonResponse({"notifications": count(), "messages": unread.count, "newest": unread.newest})


class NotificationListPage(ListPage, NotificationPage):
    """All kept notifications of a person, newest first."""

    table = Table(
        caption=gettext_lazy("Notifications, the newest first"),
        columns=(
            Column(name="what", label=gettext_lazy("Notification")),
            Column(name="kind", label=gettext_lazy("Kind")),
            Column(name="when", label=gettext_lazy("When")),
            Column(name="actions", label=gettext_lazy("Actions"), is_unseen=True),
        ),
        filters=(
            Filter(name="kind", label=gettext_lazy("Kind"), is_choice=True),
            Filter(
                name="state", label=gettext_lazy("State"), is_choice=True, choices=((UNREAD, gettext_lazy("Unread")),)
            ),
        ),
    )

    def get(self, request: HttpRequest) -> HttpResponse:
        kinds = [kind for kind in self.notification_kinds if not kind.is_only_pushed]
        state = self.read_table({"kind": [(kind.name, kind.label) for kind in kinds]})
        kind = state.values["kind"]
        names = [one.name for one in kinds if kind in ("", one.name)]
        rows = notifications_of(person_of(request), self.area_id, names).select_related("event")
        if state.values["state"] == UNREAD:
            rows = rows.filter(read_at=None)
        page = keyset_page(request, rows)
        return self.list_page("agency/notifications/list.html", state.show_keyset(page), newest=_newest_unread(page))


def _newest_unread(page: KeysetPage[Notification]) -> int | None:
    return next((row.pk for row in page.rows if row.read_at is None), None)


class NotificationsReadPage(NotificationPage):
    """Marks one notification as read (`notification`, its id), or all that the list showed and older ones (`until`)."""

    def post(self, request: HttpRequest) -> HttpResponse:
        user, now = person_of(request), timezone.now()
        one = parse_clamped_number(request.POST.get("notification", ""), usual=0, highest=LARGEST_ID)
        if one:
            mark_read(user=user, area=self.area_id, number=one, now=now)
            return redirect(self.nav)
        until = parse_clamped_number(request.POST.get("until", ""), usual=0, highest=LARGEST_ID)
        mark_all_read(user=user, area=self.area_id, until=until, now=now)
        return self.done(_("All are marked as read."), self.nav)


class PreferencesForm(forms.Form):
    """A row for each kind, with the delivery methods that it allows."""

    def __init__(
        self,
        data: Mapping[str, object] | None,
        *,
        kinds: Collection[NotificationKind],
        initial: dict[str, DeliveryMethod],
    ) -> None:
        super().__init__(data, initial=initial)
        for kind in kinds:
            self.fields[kind.name] = forms.ChoiceField(
                label=str(kind.label), choices=[(way.value, way.label) for way in kind.ways], widget=forms.RadioSelect
            )


class NotificationSettingsPage(FormView[PreferencesForm], NotificationPage):
    """How a person receives each kind."""

    template_name = "agency/notifications/settings.html"

    def make_form(self, data: Mapping[str, object] | None = None) -> PreferencesForm:
        kinds = self.notification_kinds
        initial = preferences_of(
            user=person_of(self.request), area=self.area_id, kinds=kinds, role=self.notification_role
        )
        return PreferencesForm(data, kinds=kinds, initial=initial)

    def save(self, form: PreferencesForm) -> HttpResponse:
        ways = {name: DeliveryMethod(value) for name, value in form.cleaned_data.items()}
        set_preferences(user=person_of(self.request), area=self.area_id, kinds=self.notification_kinds, ways=ways)
        return self.done(_("Your preferences were saved."), self.nav)

    def context(self) -> dict[str, object]:
        return {"heading": _("Notification preferences"), "ways": DeliveryMethod.choices}
