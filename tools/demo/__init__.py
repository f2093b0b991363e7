"""The main job told over HTTP: sub-accounts are provisioned and changed, and every event arrives, signed."""

from tools.demo.story import StoryFailed, Tempo, tell_story

__all__ = ["StoryFailed", "Tempo", "tell_story"]
