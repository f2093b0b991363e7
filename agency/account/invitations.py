"""Pages for answering invitations: from the link in the e-mail, or signed in, on the page of invitations."""

from typing import TYPE_CHECKING, cast
from uuid import UUID

from django.contrib.auth.forms import SetPasswordForm
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views import View
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_safe

from agency.account.sign_in import landing_page_of, pin_landing_page, sign_in
from agency.models import Invitation, Member, User
from agency.pages.branding import host_agency_id
from agency.pages.forms import NameField, add_domain_error
from agency.pages.pagination import LARGEST_ID, paginate
from agency.pages.registry import in_order, landing_pages
from agency.pages.views import SignedInView
from agency.request_actor import request_actor, user_actor
from agency.services import MemberNotFound, remove_member
from agency.services.invitations import (
    HasAPassword,
    InvitationEnded,
    InvitationNotFound,
    accept_invitation,
    accept_with_password,
    decline_invitation,
    handler_of,
    invitation_of_link,
    with_names,
)
from config.api.requests import parse_uuid
from config.errors import InvalidInput

if TYPE_CHECKING:
    _SetPasswordForm = SetPasswordForm[User]
else:
    _SetPasswordForm = SetPasswordForm

SESSION_KEY = "invitation"
INVITATIONS = "account:invitations"
ANSWERS = {"accept": accept_invitation, "decline": decline_invitation}


class FirstPasswordForm(_SetPasswordForm):
    """Asks a new person for their name and first password."""

    name = NameField(label=gettext_lazy("Your name"))
    field_order = ["name", "new_password1", "new_password2"]


@never_cache
@require_safe
def open_link(request: HttpRequest, token: str) -> HttpResponse:
    """Remember the link's invitation in the session and redirect, so that the token leaves the address.

    The invitation stays unanswered.
    """
    invitation = invitation_of_link(token)
    if invitation is None or host_agency_id(request) not in (None, invitation.agency_id):
        return _ended(request)
    request.session[SESSION_KEY] = str(invitation.uuid)
    response = redirect("account:invitation")
    response.headers["Referrer-Policy"] = "no-referrer"
    return response


def _ended(request: HttpRequest) -> HttpResponse:
    return render(request, "account/invitation_ended.html", status=410)


@method_decorator([never_cache, sensitive_post_parameters()], name="dispatch")
class AnswerLink(View):
    """Sends people who have a password to their invitations; others choose a password and join."""

    http_method_names = ["get", "head", "post"]
    invitation: Invitation
    person: User

    def dispatch(self, request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        found = _named_in(request)
        if found is None:
            return _ended(request)
        self.invitation = found
        person = User.objects.filter(email=found.email).first()
        if request.user.is_authenticated:
            return redirect(INVITATIONS) if person == request.user else self._for_somebody_else()
        if person and not person.is_active:
            return _ended(request)
        if person and person.has_usable_password():
            return redirect(f"{reverse('account:sign-in')}?{urlencode({'next': reverse(INVITATIONS)})}")
        self.person = person or User(email=found.email, name=found.name)
        return super().dispatch(request, *args, **kwargs)

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._show(FirstPasswordForm(self.person, initial={"name": self.invitation.name}))

    def post(self, request: HttpRequest) -> HttpResponse:
        form = FirstPasswordForm(self.person, request.POST)
        if not form.is_valid():
            return self._show(form, status=422)
        try:
            user = accept_with_password(
                invitation=self.invitation,
                name=form.cleaned_data["name"],
                password=form.cleaned_data["new_password1"],
                now=timezone.now(),
                by=request_actor(
                    request,
                    kind="user",
                    id=self.person.pk or "",
                    label=self.invitation.email,
                    of_workspace=self.invitation.workspace_uuid is not None,
                ),
            )
        except (HasAPassword, InvitationEnded):
            return _ended(request)
        except InvalidInput as refusal:
            add_domain_error(form, refusal)
            return self._show(form, status=422)
        request.session.pop(SESSION_KEY, None)
        return sign_in(request, user)

    def _show(self, form: FirstPasswordForm, *, status: int = 200) -> HttpResponse:
        names = handler_of(self.invitation).names(self.invitation)
        context = {"form": form, "invitation": self.invitation, "names": names}
        return render(self.request, "account/accept_invitation.html", context, status=status)

    def _for_somebody_else(self) -> HttpResponse:
        return render(self.request, "account/invitation_of_another.html", {"invitation": self.invitation}, status=403)


def _named_in(request: HttpRequest) -> Invitation | None:
    """Return the invitation whose link this browser has opened, while it can be answered."""
    uuid = parse_uuid(request.session.get(SESSION_KEY, ""))
    if uuid is None:
        return None
    named = Invitation.objects.select_related("agency").filter(uuid=uuid, status=Invitation.Status.OPEN)
    return named.filter(expires_at__gt=timezone.now()).first()


class Invitations(SignedInView):
    """A person's open invitations, and the memberships that they may leave."""

    landing_page = INVITATIONS

    def get(self, request: HttpRequest) -> HttpResponse:
        user = cast(User, request.user)
        agency_id = host_agency_id(request)
        rows, pages = paginate(request, open_invitations_for(user, agency_id))
        context = {
            "user": user,
            "rows": with_names(rows),
            "pages": pages,
            "belongings": [one for place in in_order(landing_pages) for one in place.belongings(user, agency_id)],
            "back": landing_page_of(user, agency_id),
        }
        return render(request, "account/invitations.html", context)


def open_invitations_for(user: User, agency_id: int | None) -> "QuerySet[Invitation]":
    """Return a person's open invitations, newest first; with `agency_id` only that agency's."""
    waiting = Invitation.objects.filter(email=user.email, status=Invitation.Status.OPEN)
    if agency_id is not None:
        waiting = waiting.filter(agency=agency_id)
    return waiting.filter(expires_at__gt=timezone.now()).select_related("agency").order_by("-id")


class AnswerInvitation(SignedInView):
    """Accepts or declines an invitation; accepting leaves the person's landing page unchanged."""

    landing_page = INVITATIONS

    def post(self, request: HttpRequest, uuid: UUID | None, answer: str) -> HttpResponse:
        user = cast(User, request.user)
        invitation = open_invitations_for(user, host_agency_id(request)).filter(uuid=uuid).first() if uuid else None
        if invitation is None:
            raise InvitationNotFound
        names = handler_of(invitation).names(invitation)
        if answer == "accept":
            pin_landing_page(user)
        by = user_actor(request, user, of_workspace=invitation.workspace_uuid is not None)
        ANSWERS[answer](invitation=invitation, user=user, now=timezone.now(), by=by)
        done = (
            _("You have joined %(name)s.") if answer == "accept" else _("You have declined the invitation to %(name)s.")
        )
        return self.done(done % {"name": names.get("workspace") or names["agency"]}, INVITATIONS)


class LeaveTeam(SignedInView):
    """Removes a person from an agency's team at their own wish; its last owner cannot leave."""

    landing_page = nav = INVITATIONS

    def get(self, request: HttpRequest, pk: int) -> HttpResponse:
        return render(request, "account/leave.html", {"name": self._own(pk).agency.name})

    def post(self, request: HttpRequest, pk: int) -> HttpResponse:
        member = self._own(pk)
        remove_member(member=member, by=user_actor(request, request.user))
        return self.done(_("You have left %(name)s.") % {"name": member.agency.name}, INVITATIONS)

    def _own(self, pk: int) -> Member:
        person = cast(User, self.request.user)
        own = Member.objects.of_person(person, host_agency_id(self.request)).filter(pk=min(pk, LARGEST_ID))
        member = own.select_related("agency").first()
        if member is None:
            raise MemberNotFound
        return member
