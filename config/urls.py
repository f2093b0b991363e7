"""Every route on one page."""

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path, re_path
from django.views.generic import RedirectView

from agency.api import AgencySurface
from agency.api import urlpatterns as agency_paths
from agency.console.urls import urlpatterns as agency_pages
from agency.public import service_worker, tls_allowed
from broadcasts.api.broadcasts import urlpatterns as broadcast_paths
from broadcasts.console import urlpatterns as agency_broadcast_pages
from broadcasts.dashboard.urls import urlpatterns as broadcast_pages
from channelconnect.api.agency import urlpatterns as connection_paths
from channelconnect.api.workspace import urlpatterns as template_paths
from channelconnect.console import urlpatterns as connection_pages
from channelconnect.dashboard import urlpatterns as own_connection_pages
from config import health
from config.api.documents.views import urlpatterns as documents
from config.api.errors import path_not_found
from config.api.surface import unknown_path
from packs.api.views import urlpatterns as pack_paths
from packs.console.packs import urlpatterns as pack_pages
from packs.dashboard import urlpatterns as gallery_pages
from webhooks.api.agency import urlpatterns as webhook_paths
from webhooks.api.workspace import urlpatterns as workspace_webhook_paths
from webhooks.console import urlpatterns as webhook_pages
from webhooks.dashboard import urlpatterns as workspace_webhook_pages
from workspaces.appointments.api import urlpatterns as appointment_paths
from workspaces.appointments.dashboard.booking_page import urlpatterns as booking_page_pages
from workspaces.appointments.dashboard.urls import urlpatterns as appointment_pages
from workspaces.automations.api import urlpatterns as automation_paths
from workspaces.automations.console import urlpatterns as ai_account_pages
from workspaces.automations.dashboard.automations import urlpatterns as automation_pages
from workspaces.automations.dashboard.editor import urlpatterns as automation_editor_pages
from workspaces.automations.dashboard.inbox import urlpatterns as automation_inbox_pages
from workspaces.automations.dashboard.publishing import urlpatterns as automation_publishing_pages
from workspaces.automations.dashboard.runs import urlpatterns as run_pages
from workspaces.automations.dashboard.simulation import urlpatterns as automation_test_pages
from workspaces.automations.dashboard.step_pages import urlpatterns as automation_step_pages
from workspaces.catalogue.api import urlpatterns as catalogue_paths
from workspaces.catalogue.dashboard.urls import urlpatterns as catalogue_pages
from workspaces.classes.api import urlpatterns as classes_paths
from workspaces.classes.dashboard.urls import urlpatterns as classes_pages
from workspaces.contacts.api import urlpatterns as contacts_paths
from workspaces.contacts.dashboard.contacts import urlpatterns as contacts_pages
from workspaces.contacts.dashboard.tasks import urlpatterns as task_pages
from workspaces.conversations.api import urlpatterns as conversations_paths
from workspaces.conversations.dashboard.urls import urlpatterns as conversations_pages
from workspaces.finance.api.invoices import urlpatterns as invoice_paths
from workspaces.finance.api.payments import urlpatterns as payment_paths
from workspaces.finance.api.reports import urlpatterns as finance_report_paths
from workspaces.finance.console import urlpatterns as finance_console_pages
from workspaces.finance.dashboard.payment_account import urlpatterns as payment_account_pages
from workspaces.finance.dashboard.urls import urlpatterns as finance_pages
from workspaces.media.api import urlpatterns as media_paths
from workspaces.subaccounts.api.agency import urlpatterns as sub_account_paths
from workspaces.subaccounts.api.surface import WorkspaceSurface
from workspaces.subaccounts.api.workspace import urlpatterns as workspace_paths
from workspaces.subaccounts.console.actions import urlpatterns as sub_account_pages
from workspaces.subaccounts.dashboard.urls import urlpatterns as workspace_pages

agency_surface: list[URLPattern | URLResolver] = [
    *agency_paths,
    *sub_account_paths,
    *webhook_paths,
    *pack_paths,
    *connection_paths,
    re_path(r"^[\s\S]*\Z", unknown_path(AgencySurface), name="unknown"),
]
workspace_surface: list[URLPattern | URLResolver] = [
    *workspace_paths,
    *contacts_paths,
    *conversations_paths,
    *catalogue_paths,
    *appointment_paths,
    *classes_paths,
    *finance_report_paths,
    *invoice_paths,
    *payment_paths,
    *media_paths,
    *automation_paths,
    *template_paths,
    *broadcast_paths,
    *workspace_webhook_paths,
    re_path(r"^[\s\S]*\Z", unknown_path(WorkspaceSurface), name="unknown"),
]
console: list[URLPattern | URLResolver] = [
    *agency_pages,
    *sub_account_pages,
    *webhook_pages,
    *pack_pages,
    *connection_pages,
    *agency_broadcast_pages,
    *ai_account_pages,
    *finance_console_pages,
]
dashboard: list[URLPattern | URLResolver] = [
    *workspace_pages,
    *contacts_pages,
    *task_pages,
    *conversations_pages,
    *catalogue_pages,
    *classes_pages,
    *booking_page_pages,
    *finance_pages,
    *payment_account_pages,
    *appointment_pages,
    *automation_publishing_pages,  # before the pages whose address has an id: `automations/new`
    *automation_pages,
    *run_pages,
    *automation_inbox_pages,
    *automation_editor_pages,
    *automation_step_pages,
    *automation_test_pages,
    *own_connection_pages,
    *broadcast_pages,
    *workspace_webhook_pages,
    *gallery_pages,
]

urlpatterns: list[URLPattern | URLResolver] = [
    path("healthz", health.healthz),
    path("readyz", health.readyz),
    path("internal/tls-allowed", tls_allowed),
    path("service-worker.js", service_worker, name="service-worker"),
    *documents,
    path("api/agency/v1/", include((agency_surface, "agency-api"))),
    path("api/v1/", include((workspace_surface, "workspace-api"))),
    re_path(r"^api(?:/[\s\S]*)?\Z", path_not_found),
    path("", RedirectView.as_view(pattern_name="account:sign-in")),
    path("account/", include("agency.account.urls")),
    path("", include("workspaces.subaccounts.sign_up")),
    path("brand/", include("agency.public")),
    path("media/", include("workspaces.media.public")),
    path("book/", include("workspaces.appointments.public.urls")),
    path("calendar/", include("workspaces.appointments.public.feeds")),
    path("connect/", include("channelconnect.pages.urls")),
    path("l/", include("broadcasts.public")),
    path("pay/", include("workspaces.finance.public")),
    path("console", RedirectView.as_view(pattern_name="console:home")),
    path("console/", include((console, "console"))),
    path("app", RedirectView.as_view(pattern_name="app:home")),
    path("app/", include((dashboard, "app"))),
    path("admin", RedirectView.as_view(pattern_name="admin:index")),
    path("admin/", admin.site.urls),
]

handler400 = "agency.pages.errors.bad_request"
handler403 = "agency.pages.errors.permission_denied"
handler404 = "agency.pages.errors.not_found"
handler500 = "agency.pages.errors.server_error"
