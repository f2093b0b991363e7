from django.apps import AppConfig


class AgencyConfig(AppConfig):
    name = "agency"
    verbose_name = "Agencies"
