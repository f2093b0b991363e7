"""Copies out of sub-accounts, before they are made. Every call needs the copy ability, first of all."""

from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from rest_framework.request import Request

from config.api.ids import parse_uuid
from config.api.responses import json_answer
from config.api.schema import Documented, Query, many, one
from config.errors import Invalid
from packs.api.agency.representations import preview_card, source_card
from packs.api.agency.scoped import CannotCopy, PackBaseViewSet
from packs.api.agency.shapes import ImportPreviewShape, ImportSourceShape
from packs.services import find_source, import_sources, preview_copy


class ParametersMissing(Invalid):
    """A parameter that the preview needs was not sent."""

    def __init__(self, names: list[str]) -> None:
        sentences = {name: [f"The {name} parameter is required."] for name in names}
        super().__init__(sentences[names[0]][0])
        self.errors = sentences


class ImportViewSet(PackBaseViewSet):
    """What can be copied, and what a copy would be."""

    @Documented(
        operation_id="listImportSources",
        summary="List the sub-accounts with published automations",
        answer=many(ImportSourceShape),
        errors={403: CannotCopy.message},
    )
    def sources(self, request: Request) -> HttpResponse:
        self.require_copying()
        return json_answer({"data": [source_card(source) for source in import_sources(agency=self.agency)]})

    @Documented(
        operation_id="previewImport",
        summary="Say what a copy would be; nothing is saved",
        answer=one(ImportPreviewShape),
        query=(
            Query("workspace", "The sub-account's uuid.", OpenApiTypes.UUID, required=True),
            Query("automation", "The automation's uuid.", OpenApiTypes.UUID, required=True),
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
        return json_answer({"data": preview_card(preview_copy(automation=found))})

    def _uuid(self, name: str) -> UUID | None:
        """A malformed id reads like an unknown one."""
        return parse_uuid(self.parameters.plain(name).strip())
