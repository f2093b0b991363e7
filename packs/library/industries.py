"""The industries that automations and packs are made for."""

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _


class Industry(TextChoices):
    ECOMMERCE = "ecommerce", _("E-commerce")
    REAL_ESTATE = "real_estate", _("Real estate")
    RESTAURANTS = "restaurants", _("Restaurants")
    CLEANING = "cleaning", _("Cleaning")
    SALONS = "salons", _("Salons")
    HEALTHCARE = "healthcare", _("Healthcare")
    EDUCATION = "education", _("Education")
    EVENTS = "events", _("Events")
    AUTOMOTIVE = "automotive", _("Automotive")
    PROFESSIONAL = "professional", _("Professional services")
