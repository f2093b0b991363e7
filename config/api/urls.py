"""The documents' routes. They come before the surfaces' routes, whose catch-alls would match them."""

from django.urls import path

from config.api.documents import views

urlpatterns = [
    path("api/agency/v1/openapi.json", views.agency_document, name="agency-document"),
    path("api/v1/openapi.json", views.workspace_document, name="workspace-document"),
    path("api/docs/agency", views.agency_page, name="agency-docs"),
    path("api/docs/workspace", views.workspace_page, name="workspace-docs"),
    *(
        path(f"api/docs/workspace/{slug}", view, name=f"workspace-{slug}-docs")
        for slug, view in views.workspace_pages.items()
    ),
]
