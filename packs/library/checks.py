"""System checks of the library: a product with a broken one does not start."""

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, register

from packs.library.judging import flaws_of, shortfalls_of
from packs.library.loading import build, read_files

HINT = "packs/library/README.md describes the files."


@register("packs")
def the_library_is_whole(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:
    """Judge every file, every flow, and the library as a whole."""
    try:
        files = read_files(settings.PACK_LIBRARY)
    except ValueError as error:
        return [Error(str(error), hint=HINT, id="packs.E001")]
    flaws = list(flaws_of(files))
    if flaws:
        return [Error(flaw, hint=HINT, id="packs.E002") for flaw in flaws]
    return [Error(lack, hint=HINT, id="packs.E003") for lack in shortfalls_of(build(files))]
