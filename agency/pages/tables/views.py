"""Views of lists, and of the views of lists that a person has saved."""

from collections.abc import Mapping
from typing import Any, ClassVar

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import NoReverseMatch, resolve, reverse
from django.utils.translation import gettext as _
from django.views import View

from agency.pages.forms.fields import LineField
from agency.pages.locale import in_page_language
from agency.pages.signed_in import SignedInView, person_of
from agency.pages.tables.declaration import Choices, Table
from agency.pages.tables.state import TableState, view_of
from agency.services.saved_views import ViewNotFound, forget_view, save_view, saved_views
from config.api.requests import parse_uuid
from config.errors import DomainError, InvalidInput


class ListPage(SignedInView):
    """A page that is a list. Its address says all that it shows, so that it can be sent on, bookmarked or saved."""

    table: ClassVar[Table]

    def read_table(self, choices: Mapping[str, Choices] | None = None) -> TableState:
        return TableState(self.table, self.request, choices)

    def list_page(self, template: str, state: TableState, /, **context: Any) -> HttpResponse:
        """Render a template that extends `pages/tables/list.html`; a list whose address has arguments has no views."""
        page = self.request.resolver_match.view_name if self.request.resolver_match else self.nav
        views = [] if self.kwargs else saved_views(user=person_of(self.request), area=self.area_id, page=page)
        shown: dict[str, Any] = {"table": state, "rows": state.rows, "pages": state.pages, "keyset": state.keyset}
        return self.page(template, **shown, saved_views=views, list_name="" if self.kwargs else page, **context)


class SavedViewPage(SignedInView):
    """Takes the forms about saved views, and redirects to the list with the form."""

    @classmethod
    def address_of_form(cls, request: HttpRequest) -> str:
        """Return the address of the list with its filters; without a list, the address of any other form."""
        try:
            return with_query(cls.address_of_list(request.POST.get("page", "")), request.POST.get("query", ""))
        except NoList:
            return super().address_of_form(request)

    @classmethod
    def address_of_list(cls, name: str) -> str:
        """Return the address of a list. Raises `NoList` for any other page."""
        try:
            address = reverse(name)
        except NoReverseMatch as error:
            raise NoList from error
        if not issubclass(getattr(resolve(address).func, "view_class", View), ListPage):
            raise NoList
        return address


def with_query(address: str, query: str) -> str:
    """Add a query to a list's address, without the position in the list."""
    known = view_of(QueryDict(query))
    return f"{address}?{known}" if known else address


class NoList(InvalidInput):
    message = "There is no such list."


class SavedViewForm(forms.Form):
    name = LineField(max_length=60)
    query = LineField(max_length=2000)


class SavedViewNew(SavedViewPage):
    """Saves what a list shows under a name, for this person in this area only."""

    keeps_form_data = True

    def post(self, request: HttpRequest) -> HttpResponse:
        page, query = request.POST.get("page", ""), view_of(QueryDict(request.POST.get("query", "")))
        address = with_query(self.address_of_list(page), query)
        form = SavedViewForm({"name": request.POST.get("name", ""), "query": query})
        try:
            self.save(form, page)
        except DomainError as error:
            messages.error(request, in_page_language(error.message))
        return redirect(address)

    def save(self, form: SavedViewForm, page: str) -> None:
        if not form.is_valid():
            raise InvalidInput(_("Give the view a name of at most 60 characters, and a filter or an order to keep."))
        view = save_view(user=person_of(self.request), area=self.area_id, page=page, **form.cleaned_data)
        messages.success(self.request, _("The view %(name)s is kept for you.") % {"name": view.name})


class SavedViewRemove(SavedViewPage):
    """Removes a saved view; a view that is gone or another person's is not found."""

    def post(self, request: HttpRequest) -> HttpResponse:
        address = self.address_of_list(request.POST.get("page", ""))
        try:
            view = forget_view(
                user=person_of(request), area=self.area_id, uuid=parse_uuid(request.POST.get("view", ""))
            )
        except ViewNotFound:
            messages.info(request, _("The view had been removed before."))
        else:
            messages.success(request, _("The view %(name)s was removed.") % {"name": view.name})
        return redirect(address)
