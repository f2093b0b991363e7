"""The tenant of events, endpoints and deliveries: an agency, or one of its workspaces."""

from dataclasses import dataclass
from uuid import UUID

from django.db import models
from django.utils.translation import gettext_lazy as _


class Audience(models.TextChoices):
    AGENCY = "agency", _("Agency")
    WORKSPACE = "workspace", _("Workspace")


@dataclass(frozen=True, slots=True)
class Tenant:
    """An agency, or one of its workspaces by its id and by the uuid that it is known by outside."""

    agency_id: int
    workspace_id: int | None = None
    workspace_uuid: UUID | None = None

    def __post_init__(self) -> None:
        if (self.workspace_id is None) != (self.workspace_uuid is None):
            raise ValueError("A workspace is named by its number and its uuid.")

    @property
    def audience(self) -> Audience:
        return Audience.AGENCY if self.workspace_id is None else Audience.WORKSPACE
