"""The Django app in place of `django.contrib.admin`, with our own site."""

from django.contrib.admin.apps import AdminConfig


class SupportAdminConfig(AdminConfig):
    default_site = "config.operations.site.SupportSite"
