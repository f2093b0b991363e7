"""The bases of pages for signed-in people and of pages that are a form: access, refusals, forms that count once."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar
from uuid import UUID

from django import forms
from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect, render
from django.urls import NoReverseMatch, reverse
from django.utils import timezone
from django.utils.cache import add_never_cache_headers
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views import View

import config.api.requests  # noqa: F401  # paths of pages name ids by it: `<id:uuid>`
from agency.models import User
from agency.pages.branding import in_page_language
from agency.pages.errors import error_page
from agency.pages.form_drafts import (
    DraftOutcome,
    FormDraft,
    answer_signed_out,
    delete_form_draft,
    latest_form_draft,
    pop_form_draft,
    redirect_to_sign_in,
    remember_browser,
    save_form_draft,
)
from agency.pages.forms import (
    NONCE_FIELD,
    NONCE_PARAMETER,
    FormNonce,
    add_domain_error,
    form_nonce_value,
    new_nonce,
    nonce_in_query,
    nonce_of,
)
from agency.pages.registry import StrOrPromise
from agency.services.page_records import claim_submission, finish_submission, redirect_of_submission
from config.errors import DomainError, NotFound

if TYPE_CHECKING:
    from agency.pages.branding import PageRequest

OUT_OF_DATE = gettext_lazy("This form is out of date, and nothing was done. Check it and send it again.")


class SignedInView(View):
    """A page that no cache keeps. When a rule refuses, it redirects to the page named `nav`, else `landing_page`.

    A view whose POST creates something sets `creates`: each of its forms counts once, and a second submit redirects to
    where the first one did. A view without GET names in `form_page` the page with its form.
    """

    if TYPE_CHECKING:
        request: PageRequest
    http_method_names = ["get", "head", "post"]
    landing_page: ClassVar[str]
    nav: ClassVar[str] = ""
    form_page: ClassVar[str] = ""
    creates: ClassVar[bool] = False
    sent_already: ClassVar[StrOrPromise] = gettext_lazy("This form was already sent. This is the result.")
    keeps_form_data: ClassVar[bool] = False

    def dispatch(self, request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
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
        return redirect_to_sign_in(cls.address_of_form(request), DraftOutcome.NOT_KEPT)

    def keep_for_later(self, response: HttpResponse) -> HttpResponse:
        """Keep what was typed while the person first does what is required of them."""
        if self.request.method == "POST" and self.keeps_form_data:
            save_form_draft(self.request, self.address_of_form(self.request), was_signed_in=True)
            remember_browser(self.request, response)
        return response

    def form_to_send_again(self) -> FormDraft | None:
        """Return, once, a form of this page that was sent after a session's end, to send again with a button.

        A page that shows what was typed in the form itself has taken it before.
        """
        kept = latest_form_draft(self.request) if self.request.method == "GET" else None
        if kept:
            delete_form_draft(self.request, kept)
        return kept

    def refuse_other(self, made_for: UUID, name: str) -> HttpResponse | None:
        """Refuse a form that names another agency or workspace, from before a switch in another tab."""
        self.request.made_for = made_for  # a refused page is shown only there
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

    def http_method_not_allowed(self, request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        """Redirect a person who opens a button's address to the page with the button."""
        if request.method in {"GET", "HEAD"}:
            return redirect(self.address_of_form(request))
        answer = error_page(request, 405)
        answer.headers["Allow"] = ", ".join(name.upper() for name in self.http_method_names if hasattr(self, name))
        return answer

    def _run(self, request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        try:
            if request.method == "POST":
                self.prepare(request, *args, **kwargs)
            if (
                request.method == "POST"
                and self.creates
                and NONCE_FIELD in request.POST
                and not self.only_looks(request)
            ):
                return self._send_once(request, *args, **kwargs)
            return self.handle(request, *args, **kwargs)
        except NotFound as error:
            raise Http404 from error
        except DomainError as error:
            messages.error(request, in_page_language(error.message))
            return redirect(self.nav or self.landing_page)

    def only_looks(self, request: HttpRequest) -> bool:
        """Say whether this POST changes nothing, such as one that shows a form again."""
        return False

    def handle(self, request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        """Call the method; for a form that counts once, this runs inside its transaction."""
        return super().dispatch(request, *args, **kwargs)

    def prepare(self, request: HttpRequest, *args: object, **kwargs: object) -> None:
        """Do what needs the network or a storage, before the form's transaction begins."""

    def _send_once(self, request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        nonce = nonce_of(request, request.POST[NONCE_FIELD])
        if nonce is None:
            return self.refuse_out_of_date(request, **kwargs)
        with transaction.atomic():
            form, is_new = claim_submission(user=person_of(request), nonce=nonce.value, now=timezone.now())
            if not is_new:
                return self.lead_to_first(form.landing)
            response = self.handle(request, *args, **kwargs)
            if response.status_code >= 400:
                transaction.set_rollback(True)
            else:
                finish_submission(form=form, landing=self._landing_after(response))
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

    def page(self, template: str, *, status: int = 200, **context: object) -> HttpResponse:
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


FormOf = TypeVar("FormOf", bound=forms.BaseForm)


class FormView(SignedInView, Generic[FormOf]):
    """`make_form` makes the form, `save` calls the service; a refusal becomes an error of the form."""

    template_name: ClassVar[str]
    keeps_form_data: ClassVar[bool] = True

    def make_form(self, data: Mapping[str, object] | None = None) -> FormOf:
        """Make the page's form, bound to `data` if it is given. Each page overrides this."""
        raise NotImplementedError

    def save(self, form: FormOf) -> HttpResponse:
        """Call the service with the valid form, and return the response. Each page overrides this."""
        raise NotImplementedError

    def context(self) -> dict[str, object]:
        """Return what the template needs besides the form: `heading`, `back`, `submit` and such."""
        return {}

    def find(self, **ids: UUID | None) -> None:
        """Look up what the address names. Raises `NotFound`."""

    def get(self, request: HttpRequest, **ids: UUID | None) -> HttpResponse:
        self.find(**ids)
        elsewhere = self._keep_in_history(request) if self.creates else None
        return elsewhere or self.show(self.make_form(self.form_data_again()))

    def post(self, request: HttpRequest, **ids: UUID | None) -> HttpResponse:
        self.find(**ids)
        form = self.make_form(request.POST)
        if form.is_valid():
            try:
                return self.save(form)
            except NotFound:
                raise
            except DomainError as error:
                add_domain_error(form, error)
        return self.show(form, status=422)

    def show(self, form: FormOf, *, status: int = 200) -> HttpResponse:
        return self.page(self.template_name, form=form, status=status, nonce=self._nonce(), **self.context())

    def form_data_again(self) -> QueryDict | None:
        """Return, once, what was sent after the session's end; a message says that nothing was done yet."""
        kept = pop_form_draft(self.request, self.request.path)
        return kept.data if kept else None

    def refuse_out_of_date(self, request: HttpRequest, **ids: UUID | None) -> HttpResponseBase:
        """Show the form again with what was typed."""
        self.find(**ids)
        form = self.make_form(request.POST)
        form.add_error(None, OUT_OF_DATE)
        return self.show(form, status=422)

    def _nonce(self) -> str:
        """Return the nonce that the form had before while it is valid, else one with the value in the address."""
        text = self.request.POST.get(NONCE_FIELD, "")
        return text if self.own_nonce(text) else self.new_nonce(form_nonce_value(self.request))

    def _keep_in_history(self, request: HttpRequest) -> HttpResponse | None:
        """Give each form its own address in the browser's history, so that Back finds the form that was sent.

        A form that was already sent redirects to what it created. Programs, which have no history, get the form at any
        address.
        """
        value = nonce_in_query(request.GET)
        if value:
            landing = redirect_of_submission(user=person_of(request), nonce=value)
            return self.lead_to_first(landing) if landing else None
        if NONCE_PARAMETER not in request.GET and request.headers.get("Sec-Fetch-Mode") != "navigate":
            return None
        query = request.GET.copy()
        query[NONCE_PARAMETER] = form_nonce_value(request)
        return redirect(f"{request.path}?{query.urlencode()}")


# Session key: a code was shown when the session began, or two-factor was switched on in it.
CODE_SHOWN = "two_factor"


def has_shown_code(request: HttpRequest) -> bool:
    return bool(request.session.get(CODE_SHOWN))


def two_factor_required_page(request: HttpRequest, *, name: str, back: str) -> HttpResponse:
    """Say that `name` requires two-factor, with a link to set it up that returns to `back` afterwards."""
    return render(request, "account/security/required.html", {"name": name, "next": back}, status=403)


class ConcurrencyLimit:
    """A limit of concurrent holders in this process; nobody waits for a slot."""

    def __init__(self, most: int) -> None:
        self._free = threading.BoundedSemaphore(most)

    @contextmanager
    def slot(self) -> Iterator[bool]:
        """Yield whether a slot was free; it is given back at the end."""
        is_free = self._free.acquire(blocking=False)
        try:
            yield is_free
        finally:
            if is_free:
                self._free.release()
