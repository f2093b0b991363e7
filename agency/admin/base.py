"""What all support admin pages share: bounded lists, exact searches, filters, changes through services only."""

from collections.abc import Mapping
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, ClassVar, cast
from uuid import UUID

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.templatetags.admin_urls import add_preserved_filters
from django.contrib.admin.utils import unquote
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import cached_property

from agency.actors import Actor
from agency.models import Agency
from agency.pages.pagination import Row
from agency.request_actor import user_actor
from agency.services.agencies import MESSAGE, holds_web_address
from config.api.requests import parse_uuid
from config.api.text_fields import is_valid_email
from config.errors import DomainError

if TYPE_CHECKING:
    _ModelAdmin = admin.ModelAdmin[Any]
    _Paginator = Paginator[Model]
    RowForm = forms.ModelForm[Any]
else:
    _ModelAdmin = admin.ModelAdmin
    _Paginator = Paginator
    RowForm = forms.ModelForm

MOST_ROWS = 1_000
NOT_THE_NAME = "This is not its name. Nothing was changed."
TEXT = {"class": "vTextField"}


class NamedForm(RowForm):
    """A form with a `name` that appears in e-mails, or an address (`email`) that receives them."""

    def clean_email(self) -> str:
        address = str(self.cleaned_data["email"]).lower()
        if not is_valid_email(address):
            raise ValidationError("Enter a valid e-mail address.")
        return address

    def clean_name(self) -> str:
        name = cast(str, self.cleaned_data["name"])
        if holds_web_address(name):
            raise ValidationError(MESSAGE)
        return name


class ConfirmByNameForm(forms.Form):
    """Asks for the object's name, so that a dangerous change happens neither by a slip nor to another object."""

    typed_name = forms.CharField(max_length=500, widget=forms.TextInput(attrs={**TEXT, "autocomplete": "off"}))

    def __init__(self, name: str, data: Mapping[str, object] | None = None) -> None:
        super().__init__(data)
        self.name = name
        self.fields["typed_name"].label = f"Type “{name}” to confirm"

    def clean_typed_name(self) -> str:
        if self.cleaned_data["typed_name"].strip().casefold() != self.name.strip().casefold():
            raise ValidationError(NOT_THE_NAME)
        return self.name


class BoundedPaginator(_Paginator):
    """Counts no further than the list goes, so that a list of millions costs no more than a short list."""

    @cached_property
    def count(self) -> int:
        rows = cast("QuerySet[Model]", self.object_list)
        return rows.order_by().values("pk")[:MOST_ROWS].count()


class RestrictedLookups(_ModelAdmin):
    """A list whose address may contain only its declared filters and `linked_by`.

    Django itself accepts any column of the table, such as `?password__startswith=…`. Somebody could read a secret
    letter by letter from the rows that the list then shows.
    """

    linked_by: ClassVar[tuple[str, ...]] = ("agency__id__exact", "workspace_id__exact")

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        declared = self.get_list_filter(request) if request else ()
        return lookup in self.linked_by or any(lookup in lookup_parameters(one) for one in declared)


def lookup_parameters(declared: object) -> set[str]:
    """Return the parameters that an entry of `list_filter` reads: those of its class, or the column's lookups."""
    if isinstance(declared, type) and issubclass(declared, admin.SimpleListFilter):
        return {str(declared.parameter_name)}
    column = declared[0] if isinstance(declared, list | tuple) else declared
    return {f"{column}{look_up}" for look_up in ("", "__exact", "__id__exact", "__isnull", "__gte", "__lt")}


class SupportAdmin(RestrictedLookups):
    """Lists the newest rows first by primary key; searches use an index."""

    ordering = ("-pk",)
    paginator = BoundedPaginator
    list_per_page = 50
    show_full_result_count = False
    sortable_by = ()
    actions = None
    search_fields = ("uuid",)
    search_help_text = "A uuid."

    def search(self, queryset: "QuerySet[Any]", term: str) -> "QuerySet[Any]":
        """Return the rows that the term names, by a query that an index answers."""
        return by_uuid(queryset, term)

    def get_search_results(
        self, request: HttpRequest, queryset: "QuerySet[Any]", search_term: str
    ) -> "tuple[QuerySet[Any], bool]":
        return (self.search(queryset, search_term.strip()) if search_term.strip() else queryset), False

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, object] | None = None) -> HttpResponse:
        title = f"Newest {self.opts.verbose_name_plural}, at most {MOST_ROWS:,}"
        return super().changelist_view(request, {"title": title, **(extra_context or {})})

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def done(self, request: HttpRequest, obj: Model, message: str) -> HttpResponse:
        """Log a change made on a page of our own, as Django logs its own, and redirect, keeping the list's filters."""
        self.log_change(request, obj, message)
        self.message_user(request, message)
        return self.back_to(request, obj)

    def back_to(self, request: HttpRequest, obj: Model) -> HttpResponse:
        page = reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_change", args=[obj.pk])
        filters = self.get_preserved_filters(request)
        return redirect(add_preserved_filters({"preserved_filters": filters, "opts": self.opts}, page))


class ReadOnlyAdmin(SupportAdmin):
    """Rows that support may read but not change."""

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class WritableAdmin(SupportAdmin):
    """Rows that support may change; the page with the form shows why a change was refused."""

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, object] | None = None,
    ) -> HttpResponse:
        try:
            return super().changeform_view(request, object_id, form_url, extra_context)
        except DomainError as refusal:
            return self.refuse(request, refusal.message)

    def name_to_type(self, obj: Any) -> str:
        """Return the text that must be typed before the row is deleted."""
        return str(obj)

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        """Ask for the name, then let the service remove the row; Django itself asks only for a click."""
        found = self.get_object(request, unquote(object_id))
        form = ConfirmByNameForm(self.name_to_type(found), request.POST or None)
        is_allowed = found is not None and self.has_delete_permission(request, found)
        if request.method == "POST" and is_allowed and not form.is_valid():
            return self.refuse(request, NOT_THE_NAME)
        try:
            return super().delete_view(request, object_id, {"typed_name_form": form, **(extra_context or {})})
        except DomainError as refusal:
            return self.refuse(request, refusal.message)

    def refuse(self, request: HttpRequest, message: str) -> HttpResponse:
        self.message_user(request, message, messages.ERROR)
        return redirect(request.get_full_path())


def by_uuid(queryset: "QuerySet[Row]", term: str) -> "QuerySet[Row]":
    found: UUID | None = parse_uuid(term)
    return queryset.filter(uuid=found) if found else queryset.none()


def staff_actor(request: HttpRequest) -> Actor:
    """Return the signed-in support person as the actor of a change."""
    return user_actor(request, request.user, kind="staff")


def copy_model_fields(source: Model, target: Model) -> None:
    """Copy the row that a service has written onto the admin's own instance."""
    for field in target._meta.concrete_fields:
        setattr(target, field.attname, getattr(source, field.attname))


MOST_AGENCIES = 100
DAYS = 31
LARGEST_ID = 2**63 - 1


class AgencyFilter(admin.SimpleListFilter):
    """Filters by agency. The list offers the first hundred by name; every agency's own page links to its rows."""

    title = "agency"
    parameter_name = "agency__id__exact"

    def lookups(self, request: HttpRequest, model_admin: _ModelAdmin) -> list[tuple[str, str]]:
        agencies = Agency.objects.order_by("name_key").only("pk", "name")
        offered = list(agencies[:MOST_AGENCIES])
        chosen = self._number()
        if chosen is not None and chosen not in {agency.pk for agency in offered}:
            offered += agencies.filter(pk=chosen)
        return [(str(agency.pk), agency.name) for agency in offered]

    def queryset(self, request: HttpRequest, queryset: "QuerySet[Row]") -> "QuerySet[Row]":
        """Filter by a range; with an equality the planner could walk through all newer rows of other agencies."""
        if self.value() is None:
            return queryset
        number = self._number()
        return queryset.none() if number is None else queryset.filter(agency_id__gte=number, agency_id__lte=number)

    def _number(self) -> int | None:
        value = self.value() or ""
        return min(int(value), LARGEST_ID) if value.isascii() and value.isdigit() and len(value) < 30 else None


class DayFilter(admin.SimpleListFilter):
    """Filters by one day in UTC."""

    title = "day (UTC)"
    parameter_name = "day"

    def lookups(self, request: HttpRequest, model_admin: _ModelAdmin) -> list[tuple[str, str]]:
        today = timezone.now().date()
        days = [(today - timedelta(days=ago)).isoformat() for ago in range(DAYS)]
        return [(day, day) for day in days]

    def queryset(self, request: HttpRequest, queryset: "QuerySet[Row]") -> "QuerySet[Row]":
        if self.value() is None:
            return queryset
        if self.value() not in {day for day, _ in self.lookup_choices}:
            return queryset.none()
        return self.of_day(queryset, date.fromisoformat(self.value() or ""))

    def of_day(self, queryset: "QuerySet[Row]", day: date) -> "QuerySet[Row]":
        """Return the rows of a day. Each list overrides this."""
        raise NotImplementedError


class FilteredRecordAdmin(ReadOnlyAdmin):
    """Records with an agency; when one agency is chosen, the order follows the index of its rows."""

    def get_ordering(self, request: HttpRequest) -> tuple[str, ...]:
        return ("agency_id", "-pk") if AgencyFilter.parameter_name in request.GET else ("-pk",)
