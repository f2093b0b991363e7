"""Routes of this app's dashboard pages, below `/app/` and in the namespace `app`."""

from django.urls import path

from workspaces.subaccounts.dashboard import home, people, settings, workspaces

urlpatterns = [
    path("", home.Home.as_view(), name="home"),
    path("first-steps", home.FirstStepsHide.as_view(), name="first-steps"),
    path("find", home.Find.as_view(), name="find"),
    path("find/suggestions", home.FindSuggestions.as_view(), name="find-suggestions"),
    path("choose", workspaces.ChooseWorkspace.as_view(), name="choose"),
    path("switch", workspaces.SwitchWorkspace.as_view(), name="switch"),
    path("views", home.SavedViewNew.as_view(), name="saved-view-save"),
    path("views/remove", home.SavedViewRemove.as_view(), name="saved-view-remove"),
    path("leave/<id:uuid>", workspaces.LeaveWorkspace.as_view(), name="leave"),
    path("workspaces/new", workspaces.NewWorkspace.as_view(), name="workspace-new"),
    path("settings", settings.Settings.as_view(), name="settings"),
    path("settings/two-factor", settings.TwoFactorRequirement.as_view(), name="two-factor"),
    path("api", settings.KeyList.as_view(), name="api-keys"),
    path("api/new", settings.KeyNew.as_view(), name="api-key-new"),
    path("api/<id:uuid>/roll", settings.KeyRoll.as_view(), name="api-key-roll"),
    path("api/<id:uuid>/revoke", settings.KeyRevoke.as_view(), name="api-key-revoke"),
    path("channels", settings.Channels.as_view(), name="channels"),
    path("channels/request", settings.ChannelRequest.as_view(), name="channel-request"),
    path("channels/<id:uuid>/disconnect", settings.DisconnectChannel.as_view(), name="channel-disconnect"),
    path("people", people.People.as_view(), name="people"),
    path("people/invite", people.Invite.as_view(), name="person-invite"),
    path("people/invitations/<id:uuid>/again", people.InvitationAgain.as_view(), name="person-invite-again"),
    path("people/invitations/<id:uuid>/withdraw", people.InvitationWithdraw.as_view(), name="person-invite-withdraw"),
    path("people/<id:uuid>/remove", people.MemberRemove.as_view(), name="person-remove"),
    path("people/<id:uuid>/owner", people.OwnershipHandOver.as_view(), name="person-make-owner"),
    path("notifications", home.Notifications.as_view(), name="notifications"),
    path("notifications/read", home.NotificationsRead.as_view(), name="notifications-read"),
    path("notifications/settings", home.NotificationSettings.as_view(), name="notification-settings"),
    path("help", home.Help.as_view(), name="help"),
    path("help/<slug:slug>", home.HelpGuide.as_view(), name="help-guide"),
    path("activity", home.Activity.as_view(), name="activity"),
    path("agency-access/end", workspaces.AgencyAccessEnd.as_view(), name="agency-access-end"),
]
