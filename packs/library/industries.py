"""The industries that automations and packs are made for."""

from django.db.models import TextChoices


class Industry(TextChoices):
    ECOMMERCE = "ecommerce", "E-commerce"
    REAL_ESTATE = "real_estate", "Real estate"
    RESTAURANTS = "restaurants", "Restaurants"
    CLEANING = "cleaning", "Cleaning"
    SALONS = "salons", "Salons"
    HEALTHCARE = "healthcare", "Healthcare"
    EDUCATION = "education", "Education"
    EVENTS = "events", "Events"
    AUTOMOTIVE = "automotive", "Automotive"
    PROFESSIONAL = "professional", "Professional services"
