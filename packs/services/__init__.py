"""The services of packs. Each change is one function and one transaction."""

from packs.services.copies import copy_automation, find_source_automation, list_import_sources, preview_copy
from packs.services.entries import add_library_entry, change_entry, order_entries, remove_entry
from packs.services.installs import gallery_of, give_starter_pack, install_pack, starter_pack_for
from packs.services.packs import change_pack, create_pack, order_packs, remove_pack
from packs.services.queries import (
    find_entry,
    find_pack,
    has_replace_setting,
    is_replacement_in_effect,
    packs_of,
    read_entry_view,
    read_pack_view,
    set_replace_platform,
)

__all__ = [
    "add_library_entry",
    "change_entry",
    "change_pack",
    "copy_automation",
    "create_pack",
    "find_entry",
    "find_pack",
    "find_source_automation",
    "gallery_of",
    "give_starter_pack",
    "has_replace_setting",
    "install_pack",
    "is_replacement_in_effect",
    "list_import_sources",
    "order_entries",
    "order_packs",
    "packs_of",
    "preview_copy",
    "read_entry_view",
    "read_pack_view",
    "remove_entry",
    "remove_pack",
    "set_replace_platform",
    "starter_pack_for",
]
