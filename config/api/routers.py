"""DRF's router as the surfaces use it: no trailing slash, ids of any spelling."""

from rest_framework.routers import SimpleRouter

import config.api.requests.ids  # noqa: F401  # registers the path converter that `lookup_value_converter` names


class SurfaceRouter(SimpleRouter):
    """Routes a viewset's actions; `lookup_url_kwarg` names the id in its paths, as in `packs/<id:pack>`."""

    def __init__(self) -> None:
        super().__init__(trailing_slash=False, use_regex_path=False)
