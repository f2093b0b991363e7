"""Whose an event or an endpoint is: an agency's own, or one of its workspaces'."""

from django.db.models import TextChoices


class Audience(TextChoices):
    AGENCY = "agency", "Agency"
    WORKSPACE = "workspace", "Workspace"
