"""Pages about sub-accounts, below `/console/` and in the console's namespace."""

from django.urls import path

import config.api.ids  # noqa: F401 - makes `<id:…>` known
from workspaces.subaccounts.console.views import listing, one, subscription

urlpatterns = [
    path("sub-accounts", listing.SubAccounts.as_view(), name="sub-accounts"),
    path("sub-accounts/new", one.SubAccountNew.as_view(), name="sub-account-new"),
    path("sub-accounts/<id:uuid>", one.SubAccountPage.as_view(), name="sub-account"),
    path("sub-accounts/<id:uuid>/edit", one.SubAccountEdit.as_view(), name="sub-account-edit"),
    path("sub-accounts/<id:uuid>/suspend", one.SubAccountSuspend.as_view(), name="sub-account-suspend"),
    path("sub-accounts/<id:uuid>/restore", one.SubAccountRestore.as_view(), name="sub-account-restore"),
    path("sub-accounts/<id:uuid>/activity", one.SubAccountActivity.as_view(), name="sub-account-activity"),
    path("sub-accounts/<id:uuid>/plan", subscription.PlanChoice.as_view(), name="sub-account-plan"),
    path("sub-accounts/<id:uuid>/add-ons", subscription.AddonGrant.as_view(), name="sub-account-addons"),
    path(
        "sub-accounts/<id:uuid>/add-ons/<id:addon>/revoke",
        subscription.AddonRevoke.as_view(),
        name="sub-account-addon-revoke",
    ),
]
