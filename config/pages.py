"""What people see when something is wrong: a page with the request's id, or JSON below `/api/`."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string

from config.logs import request_id

MESSAGES = {
    400: ("This request cannot be understood", "Go back and try again."),
    403: ("This is not allowed", "The page may be out of date, or your role does not include this."),
    404: ("There is nothing here", "The address may be mistyped, or what it showed is gone."),
    500: ("Something went wrong on our side", "Nothing you did is at fault. Please try again in a moment."),
}
API_MESSAGES = {400: "Bad request.", 403: "Forbidden.", 404: "Not found.", 500: "Server error."}


def error_page(request: HttpRequest, status: int) -> HttpResponse:
    """Answer an error in the form of the door that was used."""
    if request.path_info.startswith("/api/"):
        return JsonResponse({"message": API_MESSAGES[status]}, status=status, headers={"Cache-Control": "no-store"})
    title, advice = MESSAGES[status]
    context = {"title": title, "advice": advice, "status": status, "request_id": request_id.get()}
    return HttpResponse(render_to_string("error.html", context), status=status)


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return error_page(request, 400)


def permission_denied(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return error_page(request, 403)


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return error_page(request, 404)


def server_error(request: HttpRequest) -> HttpResponse:
    return error_page(request, 500)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return error_page(request, 403)
