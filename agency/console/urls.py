"""The console's own URLs, below `/console/` in the namespace `console`, to which higher apps add theirs."""

from typing import Any

from django.urls import path

from agency.console.views import activity, catalogue, design, find, home, notifications, saved_views, team
from agency.console.views.base import ConsoleView
from agency.console.views.configuration import api_keys, brand, domains, mail, sign_up
from agency.console.views.jobs import bulk, exports


def _view(items: catalogue.Catalogue, view: type[ConsoleView]) -> Any:
    return view.as_view(catalogue=items, nav=items.list_url)


def _catalogue_paths(address: str, items: catalogue.Catalogue) -> list[Any]:
    return [
        path(address, _view(items, catalogue.CatalogueList), name=f"{items.name}s"),
        path(f"{address}/new", _view(items, catalogue.CatalogueNew), name=f"{items.name}-new"),
        path(f"{address}/<id:uuid>", _view(items, catalogue.CatalogueItemPage), name=items.name),
        path(f"{address}/<id:uuid>/edit", _view(items, catalogue.CatalogueEdit), name=f"{items.name}-edit"),
        path(f"{address}/<id:uuid>/archive", _view(items, catalogue.CatalogueArchive), name=f"{items.name}-archive"),
    ]


urlpatterns = [
    path("", home.Home.as_view(), name="home"),
    path("find", find.FindPage.as_view(), name="find"),
    path("find/suggestions", find.FindSuggestions.as_view(), name="find-suggestions"),
    path("switch", home.switch_agency, name="switch"),
    path("design", design.DesignPage.as_view(), name="design"),
    path("views", saved_views.SavedViewNew.as_view(), name="saved-view-save"),
    path("views/remove", saved_views.SavedViewRemove.as_view(), name="saved-view-remove"),
    *_catalogue_paths("plans", catalogue.PLANS),
    path("plans/<id:uuid>/default", catalogue.DefaultPlan.as_view(), name="plan-default"),
    *_catalogue_paths("add-ons", catalogue.ADDONS),
    path("configuration/api", api_keys.KeyList.as_view(), name="api-keys"),
    path("configuration/api/new", api_keys.KeyNew.as_view(), name="api-key-new"),
    path("configuration/api/<id:uuid>/roll", api_keys.KeyRoll.as_view(), name="api-key-roll"),
    path("configuration/api/<id:uuid>/revoke", api_keys.KeyRevoke.as_view(), name="api-key-revoke"),
    path("configuration/brand", brand.BrandPage.as_view(), name="brand"),
    path("configuration/brand/language", brand.Language.as_view(), name="brand-language"),
    path("configuration/brand/colour", brand.Colour.as_view(), name="brand-colour"),
    path("configuration/sign-up", sign_up.SignUpPage.as_view(), name="sign-up"),
    path("configuration/sign-up/edit", sign_up.SignUpEdit.as_view(), name="sign-up-edit"),
    path("configuration/domains", domains.Domains.as_view(), name="domains"),
    path("configuration/domains/new", domains.DomainNew.as_view(), name="domain-new"),
    path("configuration/domains/<id:uuid>", domains.DomainPage.as_view(), name="domain"),
    path("configuration/domains/<id:uuid>/check", domains.DomainCheck.as_view(), name="domain-check"),
    path("configuration/domains/<id:uuid>/primary", domains.DomainPrimary.as_view(), name="domain-primary"),
    path("configuration/domains/<id:uuid>/remove", domains.DomainRemove.as_view(), name="domain-remove"),
    path("configuration/brand/logo", brand.PictureUpload.as_view(), name="brand-logo"),
    path("configuration/brand/logo/remove", brand.PictureRemove.as_view(), name="brand-logo-remove"),
    path("configuration/brand/dark-logo", brand.DarkLogo.as_view(), name="brand-dark-logo"),
    path("configuration/brand/dark-logo/remove", brand.DarkLogoRemove.as_view(), name="brand-dark-logo-remove"),
    path("configuration/brand/favicon", brand.Favicon.as_view(), name="brand-favicon"),
    path("configuration/brand/favicon/remove", brand.FaviconRemove.as_view(), name="brand-favicon-remove"),
    path("configuration/email", mail.MailPage.as_view(), name="mail"),
    path("configuration/email/sender", mail.MailSender.as_view(), name="mail-sender"),
    path("configuration/email/server", mail.MailServer.as_view(), name="mail-server"),
    path("configuration/email/server/remove", mail.MailServerRemove.as_view(), name="mail-server-remove"),
    path("configuration/email/test", mail.MailTest.as_view(), name="mail-test"),
    path("configuration/email/failures/<int:pk>/again", mail.MailAgain.as_view(), name="mail-again"),
    path("team", team.Team.as_view(), name="team"),
    path("team/invite", team.Invite.as_view(), name="team-invite"),
    path("team/two-factor", team.TwoFactorRequirement.as_view(), name="team-two-factor"),
    path("team/invitations/<id:uuid>/again", team.InvitationAgain.as_view(), name="invitation-again"),
    path("team/invitations/<id:uuid>/withdraw", team.InvitationWithdraw.as_view(), name="invitation-withdraw"),
    path("team/<int:pk>", team.MemberRole.as_view(), name="member"),
    path("team/<int:pk>/remove", team.MemberRemove.as_view(), name="member-remove"),
    path("bulk-changes", bulk.BulkOperations.as_view(), name="bulk-operations"),
    path("bulk-changes/new", bulk.BulkOperationNew.as_view(), name="bulk-operation-new"),
    path("bulk-changes/<id:uuid>", bulk.BulkOperationPage.as_view(), name="bulk-operation"),
    path("bulk-changes/<id:uuid>/cancel", bulk.BulkOperationCancel.as_view(), name="bulk-operation-cancel"),
    path("exports", exports.Exports.as_view(), name="exports"),
    path("exports/new", exports.ExportNew.as_view(), name="export-new"),
    path("exports/<id:uuid>", exports.ExportPage.as_view(), name="export"),
    path("exports/<id:uuid>/cancel", exports.ExportCancel.as_view(), name="export-cancel"),
    path("exports/<id:uuid>/file", exports.ExportFile.as_view(), name="export-file"),
    path("notifications", notifications.Notifications.as_view(), name="notifications"),
    path("notifications/read", notifications.NotificationsRead.as_view(), name="notifications-read"),
    path("notifications/settings", notifications.NotificationSettings.as_view(), name="notification-settings"),
    path("activity", activity.Activity.as_view(), name="activity"),
]
