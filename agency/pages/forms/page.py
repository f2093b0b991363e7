"""A page that is a form, for console and dashboard alike."""

from typing import Any, ClassVar, Generic, TypeVar

from django import forms
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect

from agency.pages.forms.forms import add_refusal
from agency.pages.forms.kept_data import take_form_data
from agency.pages.forms.nonce import FIELD, PARAMETER, value_in, value_of_form
from agency.pages.signed_in import OUT_OF_DATE, SignedInView, person_of
from agency.services.sent_forms import landing_of
from config.errors import DomainError, NotFound

FormOf = TypeVar("FormOf", bound=forms.BaseForm)


class FormView(SignedInView, Generic[FormOf]):
    """`make_form` makes the form, `save` calls the service; a refusal becomes an error of the form."""

    template_name: ClassVar[str]
    keeps_form_data: ClassVar[bool] = True

    def make_form(self, data: Any = None) -> FormOf:
        """Make the page's form, bound to `data` if it is given. Each page overrides this."""
        raise NotImplementedError

    def save(self, form: FormOf) -> HttpResponse:
        """Call the service with the valid form, and return the response. Each page overrides this."""
        raise NotImplementedError

    def context(self) -> dict[str, Any]:
        """Return what the template needs besides the form: `heading`, `back`, `submit` and such."""
        return {}

    def find(self, **ids: Any) -> None:
        """Look up what the address names. Raises `NotFound`."""

    def get(self, request: HttpRequest, **ids: Any) -> HttpResponse:
        self.find(**ids)
        elsewhere = self._keep_in_history(request) if self.creates else None
        return elsewhere or self.show(self.make_form(self.form_data_again()))

    def post(self, request: HttpRequest, **ids: Any) -> HttpResponse:
        self.find(**ids)
        form = self.make_form(request.POST)
        if form.is_valid():
            try:
                return self.save(form)
            except NotFound:
                raise
            except DomainError as error:
                add_refusal(form, error)
        return self.show(form, status=422)

    def show(self, form: FormOf, *, status: int = 200) -> HttpResponse:
        return self.page(self.template_name, form=form, status=status, nonce=self._nonce(), **self.context())

    def form_data_again(self) -> QueryDict | None:
        """Return, once, what was sent after the session's end; a message says that nothing was done yet."""
        kept = take_form_data(self.request, self.request.path)
        return kept.data if kept else None

    def refuse_out_of_date(self, request: HttpRequest, **ids: Any) -> HttpResponseBase:
        """Show the form again with what was typed."""
        self.find(**ids)
        form = self.make_form(request.POST)
        form.add_error(None, OUT_OF_DATE)
        return self.show(form, status=422)

    def _nonce(self) -> str:
        """Return the nonce that the form had before while it is valid, else one with the value in the address."""
        text = self.request.POST.get(FIELD, "")
        return text if self.own_nonce(text) else self.new_nonce(value_of_form(self.request))

    def _keep_in_history(self, request: HttpRequest) -> HttpResponse | None:
        """Give each form its own address in the browser's history, so that Back finds the form that was sent.

        A form that was already sent redirects to what it created. Programs, which have no history, get the form at any
        address.
        """
        value = value_in(request.GET)
        if value:
            landing = landing_of(user=person_of(request), nonce=value)
            return self.lead_to_first(landing) if landing else None
        if PARAMETER not in request.GET and request.headers.get("Sec-Fetch-Mode") != "navigate":
            return None
        query = request.GET.copy()
        query[PARAMETER] = value_of_form(request)
        return redirect(f"{request.path}?{query.urlencode()}")
