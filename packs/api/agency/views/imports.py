"""API views that list and preview copies out of sub-accounts. Every call first requires the copy ability."""

from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from config.api.operations import list_response, object_response, operation
from config.api.requests import parse_uuid
from config.errors import InvalidInput
from packs.api.agency.serializers import ImportPreviewSerializer, ImportSourceSerializer
from packs.api.agency.views.copying import CannotCopy, CopyingViewSet
from packs.services import find_source, import_sources, preview_copy


class ParametersMissing(InvalidInput):
    """Required parameters of the preview were not sent."""

    def __init__(self, names: list[str]) -> None:
        sentences = {name: [f"The {name} parameter is required."] for name in names}
        super().__init__(sentences[names[0]][0])
        self.errors = sentences


class ImportViewSet(CopyingViewSet):
    """What can be copied, and what a copy would be."""

    @operation(
        operation_id="listImportSources",
        summary="List the sub-accounts with published automations",
        answer=list_response(ImportSourceSerializer),
        errors={403: CannotCopy.message},
    )
    def sources(self, request: Request) -> HttpResponse:
        self.require_copying()
        return self.answer(ImportSourceSerializer(import_sources(agency=self.agency), many=True))

    @operation(
        operation_id="previewImport",
        summary="Say what a copy would be; nothing is saved",
        answer=object_response(ImportPreviewSerializer),
        query=(
            OpenApiParameter("workspace", OpenApiTypes.UUID, required=True, description="The sub-account's uuid."),
            OpenApiParameter("automation", OpenApiTypes.UUID, required=True, description="The automation's uuid."),
        ),
        errors={
            403: CannotCopy.message,
            404: "No such sub-account, or no such automation.",
            422: "A required parameter was not sent.",
        },
    )
    def preview(self, request: Request) -> HttpResponse:
        self.require_copying()
        names = ("workspace", "automation")
        missing = [name for name in names if not self.parameters.plain(name).strip()]
        if missing:
            raise ParametersMissing(missing)
        workspace, automation = (self._uuid(name) for name in names)
        found = find_source(agency=self.agency, workspace=workspace, automation=automation)
        return self.answer(ImportPreviewSerializer(preview_copy(automation=found)))

    def _uuid(self, name: str) -> UUID | None:
        """A malformed id reads like an unknown one."""
        return parse_uuid(self.parameters.plain(name).strip())
