"""The services of packs. Each change is one function and one transaction."""

from packs.services.copies import copy_automation, find_source, import_sources, preview_copy
from packs.services.entries import add_library_entry, change_entry, order_entries, remove_entry
from packs.services.gallery import gallery_of
from packs.services.installs import give_starter_pack, install_pack, starter_pack_for
from packs.services.packs import change_pack, create_pack, order_packs, remove_pack
from packs.services.queries import find_entry, find_pack, packs_of, view_entry, view_pack
from packs.services.visibility import platform_is_replaced, replaces_platform, set_replace_platform

__all__ = [
    "add_library_entry",
    "change_entry",
    "change_pack",
    "copy_automation",
    "create_pack",
    "find_entry",
    "find_pack",
    "find_source",
    "gallery_of",
    "give_starter_pack",
    "import_sources",
    "install_pack",
    "order_entries",
    "order_packs",
    "packs_of",
    "platform_is_replaced",
    "preview_copy",
    "remove_entry",
    "remove_pack",
    "replaces_platform",
    "set_replace_platform",
    "starter_pack_for",
    "view_entry",
    "view_pack",
]
