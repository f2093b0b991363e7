"""Files of agencies' brands, below `/brand/`."""

from django.urls import path, register_converter

from agency.public import brand


class DigestConverter:
    """A SHA-256 in hex."""

    regex = "[0-9a-f]{64}"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


register_converter(DigestConverter, "digest")

app_name = "brand"
urlpatterns = [
    path("<str:colour>.css", brand.stylesheet, name="colours"),
    path("<digest:digest>.png", brand.picture, name="picture"),
]
