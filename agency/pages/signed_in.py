"""The base of every page for signed-in people: access, refusals, and forms that count once."""

from typing import Any, ClassVar
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import NoReverseMatch, reverse
from django.utils import timezone
from django.utils.cache import add_never_cache_headers
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views import View

import config.api.requests  # noqa: F401  # paths of pages name ids by it: `<id:uuid>`
from agency.models import User
from agency.pages.errors import error_page
from agency.pages.forms.kept_data import (
    KeptFormData,
    Outcome,
    answer_signed_out,
    forget_form_data,
    keep_form_data,
    kept_form_data,
    lead_to_sign_in,
    remember_browser,
)
from agency.pages.forms.nonce import FIELD, FormNonce, new_nonce, nonce_of
from agency.pages.locale import in_page_language
from agency.pages.registry import StrOrPromise
from agency.services.sent_forms import claim_form, finish_form
from config.errors import DomainError, NotFound

OUT_OF_DATE = gettext_lazy("This form is out of date. Nothing was done: look through it and send it again.")


class SignedInView(View):
    """A page that no cache keeps. When a rule refuses, it redirects to the page named `nav`, else `landing_page`.

    A view whose POST creates something sets `creates`: each of its forms counts once, and a second submit redirects to
    where the first one did. A view without GET names in `form_page` the page with its form.
    """

    http_method_names = ["get", "head", "post"]
    landing_page: ClassVar[str]
    nav: ClassVar[str] = ""
    form_page: ClassVar[str] = ""
    creates: ClassVar[bool] = False
    sent_already: ClassVar[StrOrPromise] = gettext_lazy("This form was sent already: this is what it made.")
    keeps_form_data: ClassVar[bool] = False

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        response = self.check_access(request) or self._run(request, *args, **kwargs)
        add_never_cache_headers(response)
        return response

    def check_access(self, request: HttpRequest) -> HttpResponse | None:
        """Find out who asks; a response means that they may not see the page."""
        if request.user.is_authenticated:
            return None
        if request.method != "POST":
            return redirect_to_login(request.get_full_path())
        return answer_signed_out(request, page=self.address_of_form(request), keeps=self.keeps_form_data)

    @classmethod
    def answer_unread(cls, request: HttpRequest) -> HttpResponse:
        """Answer a body that was too large to be read from a person who has not signed in."""
        return lead_to_sign_in(cls.address_of_form(request), Outcome.NOT_KEPT)

    def keep_for_later(self, response: HttpResponse) -> HttpResponse:
        """Keep what was typed while the person first does what is required of them."""
        if self.request.method == "POST" and self.keeps_form_data:
            keep_form_data(self.request, self.address_of_form(self.request), was_signed_in=True)
            remember_browser(self.request, response)
        return response

    def form_to_send_again(self) -> KeptFormData | None:
        """Return, once, a form of this page that was sent after a session's end, to send again with a button.

        A page that shows what was typed in the form itself has taken it before.
        """
        kept = kept_form_data(self.request) if self.request.method == "GET" else None
        if kept:
            forget_form_data(self.request, kept)
        return kept

    def refuse_other(self, made_for: UUID, name: str) -> HttpResponse | None:
        """Refuse a form that names another agency or workspace, from before a switch in another tab."""
        self.request.made_for = made_for  # type: ignore[attr-defined]  # a refused page is shown only there
        if self.request.POST.get("made_for") in (None, str(made_for)):
            return None
        message = _("You have switched to %(name)s meanwhile. Nothing was changed.")
        messages.error(self.request, message % {"name": name})
        return redirect(self.landing_page)

    @classmethod
    def address_of_form(cls, request: HttpRequest) -> str:
        """Return the address of the page that holds this view's form."""
        if hasattr(cls, "get") or request.resolver_match is None:
            return request.get_full_path()
        ids = request.resolver_match.kwargs
        if None in ids.values():
            raise Http404
        for number in range(len(ids), -1, -1):
            try:
                return reverse(cls.form_page or cls.nav, kwargs=dict(list(ids.items())[:number]))
            except NoReverseMatch:
                continue
        return reverse(cls.landing_page)

    def http_method_not_allowed(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Redirect a person who opens a button's address to the page with the button."""
        if request.method in {"GET", "HEAD"}:
            return redirect(self.address_of_form(request))
        answer = error_page(request, 405)
        answer.headers["Allow"] = ", ".join(name.upper() for name in self.http_method_names if hasattr(self, name))
        return answer

    def _run(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            if request.method == "POST":
                self.prepare(request, *args, **kwargs)
            if request.method == "POST" and self.creates and FIELD in request.POST:
                return self._send_once(request, *args, **kwargs)
            return self.handle(request, *args, **kwargs)
        except NotFound as error:
            raise Http404 from error
        except DomainError as error:
            messages.error(request, in_page_language(error.message))
            return redirect(self.nav or self.landing_page)

    def handle(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Call the method; for a form that counts once, this runs inside its transaction."""
        return super().dispatch(request, *args, **kwargs)

    def prepare(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        """Do what needs the network or a storage, before the form's transaction begins."""

    def _send_once(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        nonce = nonce_of(request, request.POST[FIELD])
        if nonce is None:
            return self.refuse_out_of_date(request, **kwargs)
        with transaction.atomic():
            form, is_new = claim_form(user=person_of(request), nonce=nonce.value, now=timezone.now())
            if not is_new:
                return self.lead_to_first(form.landing)
            response = self.handle(request, *args, **kwargs)
            if response.status_code >= 400:
                transaction.set_rollback(True)
            else:
                finish_form(form=form, landing=self._landing_after(response))
        return response

    def _landing_after(self, response: HttpResponseBase) -> str:
        """Return where a second submit redirects; what the response itself shows is not shown again."""
        return response.headers.get("Location", "") or reverse(self.nav or self.landing_page)

    def lead_to_first(self, landing: str) -> HttpResponse:
        """Answer a form that was sent before."""
        messages.warning(self.request, str(self.sent_already))
        return redirect(landing)

    def refuse_out_of_date(self, request: HttpRequest, **ids: Any) -> HttpResponseBase:
        """Answer a form whose nonce is another person's, or too old."""
        messages.warning(request, OUT_OF_DATE)
        return redirect(self.address_of_form(request))

    def own_nonce(self, text: str) -> FormNonce | None:
        return nonce_of(self.request, text)

    def new_nonce(self, value: str = "") -> str:
        return new_nonce(person_of(self.request).pk, value)

    @property
    def area_id(self) -> UUID:
        """The id of the agency or workspace whose pages these are. Each area overrides this."""
        raise NotImplementedError

    def page(self, template: str, *, status: int = 200, **context: Any) -> HttpResponse:
        """Render a page inside its area's frame. Each area overrides this.

        Templates that areas share get the area's namespace (`area`), its `frame` and its `hidden_fields`.
        """
        raise NotImplementedError

    def done(self, message: str, to: str, *args: object) -> HttpResponse:
        """Say what was done, and redirect to the page named `to`."""
        messages.success(self.request, message)
        return redirect(to, *args)


def person_of(request: HttpRequest) -> User:
    assert isinstance(request.user, User)  # noqa: S101  # everybody who gets here has signed in
    return request.user
