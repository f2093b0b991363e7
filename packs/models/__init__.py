"""Packs of an agency, their entries, and which workspace was given its first one."""

from packs.models.entries import PackEntry
from packs.models.packs import Pack, PackSettings
from packs.models.starters import StarterPack

__all__ = ["Pack", "PackEntry", "PackSettings", "StarterPack"]
