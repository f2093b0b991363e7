"""The groups of support staff, which the end of `migrate` makes. An operator may change them, and they stay changed."""

from typing import Final

from django.apps import AppConfig, apps
from django.contrib.auth.models import Group, Permission
from django.db.models import Q

READ: Final = "Support: read"
ACT: Final = "Support: read and act"
# What support does on its pages besides reading. Accounts and the installation's switches are left to superusers.
ACTIONS: Final = {
    "agency": (
        "change_agency",
        "change_bulkoperation",
        "change_domain",
        "change_export",
        "change_member",
        "add_invitation",
        "change_invitation",
    ),
    "channelconnect": ("add_connectsettings", "change_connectsettings"),
    "subaccounts": ("change_workspace",),
    "webhooks": ("change_delivery",),
}
# Django's own apps have no pages for support.
NOT_OURS: Final = ("admin", "auth", "contenttypes", "sessions")


def make_support_groups(*, app_config: AppConfig, using: str, **_: object) -> None:
    """Make the groups that are missing, once the permissions of the last app exist."""
    last = [one for one in apps.get_app_configs() if one.models_module][-1]
    if app_config.label != last.label:
        return
    read = Q(codename__startswith="view_") & ~Q(content_type__app_label__in=NOT_OURS)
    act = Q(pk=None)
    for app, codenames in ACTIONS.items():
        act |= Q(content_type__app_label=app, codename__in=codenames)
    for name, rights in ((READ, read), (ACT, read | act)):
        group, is_new = Group.objects.using(using).get_or_create(name=name)
        if is_new:
            group.permissions.set(Permission.objects.using(using).filter(rights))
