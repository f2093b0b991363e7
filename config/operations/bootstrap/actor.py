"""The actor of a bootstrap. A bootstrap may replace only keys that carry this actor's name."""

from agency.actors import Actor

BOOTSTRAP = Actor(kind="system", id="", label="bootstrap")
