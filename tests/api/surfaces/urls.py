"""The test surfaces at the addresses of the real surfaces, so that the documents take them for those."""

from django.urls import include, path, re_path

from config.api.errors import path_not_found
from config.api.surface import unknown_path
from tests.api.surfaces import views
from tests.api.surfaces.surfaces import AgencyTestSurface, WorkspaceTestSurface

agency = [
    path("things", views.AgencyThings.as_view()),
    path("things/<id:thing>", views.AgencyThing.as_view()),
    path("echo", views.Echo.as_view()),
    path("suspend", views.Actions.as_view({"post": "suspend"}, schema=None)),
    path("faults/<str:fault>", views.Faults.as_view()),
    path("once", views.Once.as_view()),
    path("once/again", views.Once.as_view()),
    path("once/prepared", views.Prepared.as_view()),
]
workspace = [path("things", views.WorkspaceThings.as_view())]

urlpatterns = [
    path("", include("config.api.documents.views")),
    path("api/agency/v1/", include(agency)),
    re_path(r"^api/agency/v1(?:/[\s\S]*)?\Z", unknown_path(AgencyTestSurface)),
    path("api/v1/", include(workspace)),
    re_path(r"^api/v1(?:/[\s\S]*)?\Z", unknown_path(WorkspaceTestSurface)),
    path("api/stray", views.Stray.as_view()),
    re_path(r"^api(?:/[\s\S]*)?\Z", path_not_found),
]
handler400 = "agency.pages.errors.bad_request"
handler404 = "agency.pages.errors.not_found"
handler500 = "agency.pages.errors.server_error"
