"""System checks of the library. The product does not start with a broken library."""

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, register

from packs.library.loading import build, read_files
from packs.library.validation import file_errors, library_errors

HINT = "packs/library/README.md describes the files."


@register("packs")
def check_library(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:
    """Check every file, every flow, and the library as a whole."""
    try:
        files = read_files(settings.PACK_LIBRARY)
    except ValueError as error:
        return [Error(str(error), hint=HINT, id="packs.E001")]
    errors = list(file_errors(files))
    if errors:
        return [Error(error, hint=HINT, id="packs.E002") for error in errors]
    return [Error(error, hint=HINT, id="packs.E003") for error in library_errors(build(files))]
