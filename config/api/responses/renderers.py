"""The only renderer. Surfaces write their answers themselves; the documents take the media type from it."""

from collections.abc import Mapping
from typing import Any

from rest_framework.renderers import BaseRenderer

from config.api.responses.json import CONTENT_TYPE, to_json


class JSONRenderer(BaseRenderer):
    media_type = CONTENT_TYPE
    format = "json"
    charset = None

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        return to_json(data)
