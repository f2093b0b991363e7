"""What a proxy requests before it gets a certificate for a name that somebody connects to."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from agency.services.domains.hosts import agency_of_host


@csrf_exempt
@require_safe
def tls_allowed(request: HttpRequest) -> HttpResponse:
    """Answer 200 for a verified domain and 404 for any other name, from memory: without a query and without a body."""
    names = request.GET.getlist("domain")
    is_verified = len(names) == 1 and agency_of_host(names[0].lower().rstrip(".")) is not None
    return HttpResponse(status=200 if is_verified else 404, headers={"Cache-Control": "no-store"})
