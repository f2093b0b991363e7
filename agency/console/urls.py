"""The console's own URLs, below `/console/` in the namespace `console`, to which higher apps add theirs."""

from collections.abc import Callable

from django.http import HttpResponseBase
from django.urls import URLPattern, path

from agency.console import activity, api_keys, catalogue, configuration, domains, home, jobs, team
from agency.console.base import ConsoleView


def _view(items: catalogue.Catalogue, view: type[ConsoleView]) -> Callable[..., HttpResponseBase]:
    return view.as_view(catalogue=items, nav=items.list_url)


def _catalogue_paths(address: str, items: catalogue.Catalogue) -> list[URLPattern]:
    return [
        path(address, _view(items, catalogue.CatalogueList), name=f"{items.name}s"),
        path(f"{address}/new", _view(items, catalogue.CatalogueNew), name=f"{items.name}-new"),
        path(f"{address}/<id:uuid>", _view(items, catalogue.CatalogueItemPage), name=items.name),
        path(f"{address}/<id:uuid>/edit", _view(items, catalogue.CatalogueEdit), name=f"{items.name}-edit"),
        path(f"{address}/<id:uuid>/archive", _view(items, catalogue.CatalogueArchive), name=f"{items.name}-archive"),
    ]


urlpatterns = [
    path("", home.Home.as_view(), name="home"),
    path("find", home.FindPage.as_view(), name="find"),
    path("find/suggestions", home.FindSuggestions.as_view(), name="find-suggestions"),
    path("switch", home.switch_agency, name="switch"),
    path("design", home.DesignPage.as_view(), name="design"),
    path("views", home.SavedViewNew.as_view(), name="saved-view-save"),
    path("views/remove", home.SavedViewRemove.as_view(), name="saved-view-remove"),
    *_catalogue_paths("plans", catalogue.PLANS),
    path("plans/<id:uuid>/default", catalogue.DefaultPlan.as_view(), name="plan-default"),
    *_catalogue_paths("add-ons", catalogue.ADDONS),
    path("configuration/api", api_keys.KeyList.as_view(), name="api-keys"),
    path("configuration/api/new", api_keys.KeyNew.as_view(), name="api-key-new"),
    path("configuration/api/<id:uuid>/roll", api_keys.KeyRoll.as_view(), name="api-key-roll"),
    path("configuration/api/<id:uuid>/revoke", api_keys.KeyRevoke.as_view(), name="api-key-revoke"),
    path("configuration/brand", configuration.BrandPage.as_view(), name="brand"),
    path("configuration/brand/language", configuration.Language.as_view(), name="brand-language"),
    path("configuration/brand/colour", configuration.Colour.as_view(), name="brand-colour"),
    path("configuration/sign-up", configuration.SignUpPage.as_view(), name="sign-up"),
    path("configuration/sign-up/edit", configuration.SignUpEdit.as_view(), name="sign-up-edit"),
    path("configuration/domains", domains.Domains.as_view(), name="domains"),
    path("configuration/domains/new", domains.DomainNew.as_view(), name="domain-new"),
    path("configuration/domains/<id:uuid>", domains.DomainPage.as_view(), name="domain"),
    path("configuration/domains/<id:uuid>/check", domains.DomainCheck.as_view(), name="domain-check"),
    path("configuration/domains/<id:uuid>/primary", domains.DomainPrimary.as_view(), name="domain-primary"),
    path("configuration/domains/<id:uuid>/remove", domains.DomainRemove.as_view(), name="domain-remove"),
    path("configuration/brand/logo", configuration.PictureUpload.as_view(), name="brand-logo"),
    path("configuration/brand/logo/remove", configuration.PictureRemove.as_view(), name="brand-logo-remove"),
    path("configuration/brand/dark-logo", configuration.DarkLogo.as_view(), name="brand-dark-logo"),
    path("configuration/brand/dark-logo/remove", configuration.DarkLogoRemove.as_view(), name="brand-dark-logo-remove"),
    path("configuration/brand/favicon", configuration.Favicon.as_view(), name="brand-favicon"),
    path("configuration/brand/favicon/remove", configuration.FaviconRemove.as_view(), name="brand-favicon-remove"),
    path("configuration/email", configuration.MailPage.as_view(), name="mail"),
    path("configuration/email/sender", configuration.MailSender.as_view(), name="mail-sender"),
    path("configuration/email/server", configuration.MailServer.as_view(), name="mail-server"),
    path("configuration/email/server/remove", configuration.MailServerRemove.as_view(), name="mail-server-remove"),
    path("configuration/email/test", configuration.MailTest.as_view(), name="mail-test"),
    path("configuration/email/failures/<int:pk>/again", configuration.MailAgain.as_view(), name="mail-again"),
    path("team", team.Team.as_view(), name="team"),
    path("team/invite", team.Invite.as_view(), name="team-invite"),
    path("team/two-factor", team.TwoFactorRequirement.as_view(), name="team-two-factor"),
    path("team/invitations/<id:uuid>/again", team.InvitationAgain.as_view(), name="invitation-again"),
    path("team/invitations/<id:uuid>/withdraw", team.InvitationWithdraw.as_view(), name="invitation-withdraw"),
    path("team/<int:pk>", team.MemberRole.as_view(), name="member"),
    path("team/<int:pk>/remove", team.MemberRemove.as_view(), name="member-remove"),
    path("bulk-changes", jobs.BulkOperations.as_view(), name="bulk-operations"),
    path("bulk-changes/new", jobs.BulkOperationNew.as_view(), name="bulk-operation-new"),
    path("bulk-changes/<id:uuid>", jobs.BulkOperationPage.as_view(), name="bulk-operation"),
    path("bulk-changes/<id:uuid>/cancel", jobs.BulkOperationCancel.as_view(), name="bulk-operation-cancel"),
    path("exports", jobs.Exports.as_view(), name="exports"),
    path("exports/new", jobs.ExportNew.as_view(), name="export-new"),
    path("exports/<id:uuid>", jobs.ExportPage.as_view(), name="export"),
    path("exports/<id:uuid>/cancel", jobs.ExportCancel.as_view(), name="export-cancel"),
    path("exports/<id:uuid>/file", jobs.ExportFile.as_view(), name="export-file"),
    path("notifications", home.Notifications.as_view(), name="notifications"),
    path("notifications/read", home.NotificationsRead.as_view(), name="notifications-read"),
    path("notifications/settings", home.NotificationSettings.as_view(), name="notification-settings"),
    path("unread", home.Unread.as_view(), name="unread"),
    path("help", home.Help.as_view(), name="help"),
    path("help/<slug:slug>", home.HelpGuide.as_view(), name="help-guide"),
    path("activity", activity.Activity.as_view(), name="activity"),
]
