"""In whose name a bootstrap acts; keys that carry this name are the ones that it may replace."""

from agency.actors import Actor

BOOTSTRAP = Actor(kind="system", id="", label="bootstrap")
