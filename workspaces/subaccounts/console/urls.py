"""Routes of the pages about sub-accounts, below `/console/` and in the console's namespace."""

from django.urls import path

from workspaces.subaccounts.console.views import agency_access, channels, owner, sub_account, sub_accounts, subscription

urlpatterns = [
    path("sub-accounts", sub_accounts.SubAccounts.as_view(), name="sub-accounts"),
    path("sub-accounts/new", sub_account.SubAccountNew.as_view(), name="sub-account-new"),
    path("sub-accounts/<id:uuid>", sub_account.SubAccountPage.as_view(), name="sub-account"),
    path("sub-accounts/<id:uuid>/edit", sub_account.SubAccountEdit.as_view(), name="sub-account-edit"),
    path("sub-accounts/<id:uuid>/suspend", sub_account.SubAccountSuspend.as_view(), name="sub-account-suspend"),
    path("sub-accounts/<id:uuid>/restore", sub_account.SubAccountRestore.as_view(), name="sub-account-restore"),
    path("sub-accounts/<id:uuid>/activity", sub_account.SubAccountActivity.as_view(), name="sub-account-activity"),
    path("sub-accounts/<id:uuid>/open", agency_access.OpenAsCustomer.as_view(), name="sub-account-open"),
    path("sub-accounts/<id:uuid>/owner", owner.OwnerChange.as_view(), name="sub-account-owner"),
    path("sub-accounts/<id:uuid>/owner/invite", owner.OwnerInvite.as_view(), name="sub-account-owner-invite"),
    path("sub-accounts/<id:uuid>/plan", subscription.PlanChoice.as_view(), name="sub-account-plan"),
    path("sub-accounts/<id:uuid>/add-ons", subscription.AddonGrant.as_view(), name="sub-account-addons"),
    path(
        "sub-accounts/<id:uuid>/add-ons/<id:addon>/revoke",
        subscription.AddonRevoke.as_view(),
        name="sub-account-addon-revoke",
    ),
    path(
        "sub-accounts/<id:uuid>/channels/<id:channel>/disconnect",
        channels.ChannelDisconnect.as_view(),
        name="sub-account-channel-disconnect",
    ),
]
