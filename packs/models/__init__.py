"""Models of an agency's packs, their entries, and the starter packs of workspaces."""

from packs.models.entries import PackEntry
from packs.models.packs import Pack, PackSettings
from packs.models.starters import StarterPack

__all__ = ["Pack", "PackEntry", "PackSettings", "StarterPack"]
