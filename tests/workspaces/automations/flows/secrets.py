"""Random flows full of secrets, built from the registry itself: a new type of step is in them at once."""

from itertools import pairwise
from typing import Any

from hypothesis import strategies as st

from workspaces.automations.flows import fields as kinds
from workspaces.automations.flows.flow import Flow, Step
from workspaces.automations.flows.registry import STEPS, TRIGGERS
from workspaces.automations.flows.types import StepType, TriggerType

PLATFORM = "whatsapp"
LETTERS, DIGITS = "abcdefghijkmnpqrstuvwxyz", "0123456789"
PLAIN = ["hello", "we", "are", "open", "at", "9:00", "today", "price", "20", "%", "{{contact.name}}"]
TEXTS = st.lists(st.sampled_from(PLAIN), min_size=1, max_size=4).map(" ".join)


def some(letters: str, least: int, most: int) -> st.SearchStrategy[str]:
    return st.text(letters, min_size=least, max_size=most)


HOSTS = st.builds("{}.{}".format, some(LETTERS, 3, 8), st.sampled_from(["com", "example", "co.uk", "xn--p1ai", "io"]))
EMAILS = st.builds("{}{}@{}".format, some(LETTERS, 1, 6), some(DIGITS, 0, 3), HOSTS)
PHONES = st.builds(
    lambda plus, groups, between: plus + between.join(groups),
    st.sampled_from(["", "+", "00"]),
    st.lists(some(DIGITS, 2, 4), min_size=4, max_size=5),
    st.sampled_from(["", " ", "-", ".", "/", " - ", "\u00a0", "\u2011"]),
)
URLS = st.builds("{}{}{}".format, st.sampled_from(["https://", "http://", "www.", ""]), HOSTS, st.just("/path"))
IDS = st.uuids().map(str) | st.builds("{}{}{}".format, some(LETTERS, 4, 6), some(DIGITS, 3, 5), some(LETTERS, 2, 6))
PREFIXES = ["svc_ag_", "sk_live_", "whsec_", "ghp_", "xoxb-"]
TOKENS = st.builds("{}{}".format, st.sampled_from(PREFIXES), some(LETTERS + DIGITS, 16, 30))
SPELLED = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "oh", "double"]
DISGUISED = (
    st.lists(st.sampled_from(SPELLED), min_size=8, max_size=11).map(" ".join)
    | some(DIGITS, 8, 11).map(" . . ".join)
    | some(DIGITS, 8, 11).map("\u0301\ufe0f".join)
    | some(DIGITS, 8, 11).map(lambda digits: "".join(f"<b>{digit}</b>" for digit in digits))
    | st.builds("{0}_at_{1}_dot_com".format, some(LETTERS, 2, 6), some(LETTERS, 3, 8))
    | st.builds("{0}{1}{0} . com".format, some(LETTERS, 2, 6), st.sampled_from(["@", " (at) "]))
)
SECRETS = EMAILS | PHONES | URLS | IDS | TOKENS | DISGUISED
# A name may hold letters, digits and _ only.
SECRET_NAMES = st.builds("tel_{}".format, some(DIGITS, 8, 12)) | st.builds(
    "{}{}".format, some(LETTERS, 5, 8), some(DIGITS, 4, 9)
)
OWN_VALUES = {"email": EMAILS, "phone": some(DIGITS, 9, 12), "url": st.builds("https://{}/{}".format, HOSTS, IDS)}


class Building:
    """Draws values and notes each secret that it puts in."""

    def __init__(self, draw: Any) -> None:
        self.draw = draw
        self.secrets: set[str] = set()

    def secret(self, strategy: st.SearchStrategy[str]) -> str:
        found = self.draw(strategy)
        self.secrets.add(found)
        return str(found)

    def value(self, field: kinds.Field) -> Any:
        match field:
            case kinds.Text():
                return self._text(field)
            case kinds.Name():
                return self.secret(SECRET_NAMES) if self.draw(st.booleans()) else self.draw(some(LETTERS, 1, 8))
            case kinds.Variable():
                return f"answers.{self.secret(SECRET_NAMES)}" if self.draw(st.booleans()) else "contact.city"
            case kinds.CustomerValue():
                return self.secret(OWN_VALUES.get(field.of, SECRETS))
            case kinds.AgencyAccount():
                return self.secret(SECRETS)
            case kinds.ListOf():
                return [self._one(field) for _ in range(self.draw(st.integers(1, min(3, field.most))))]
            case _:
                return self._harmless(field)

    def _harmless(self, field: kinds.Field) -> Any:
        if isinstance(field, kinds.Choice):
            return self.draw(st.sampled_from(field.options))
        if isinstance(field, kinds.Number):
            return self.draw(st.integers(field.least, field.most))
        assert isinstance(field, kinds.Boolean)
        return self.draw(st.booleans())

    def _text(self, field: kinds.Text) -> str:
        plain = self.draw(TEXTS)[: field.most].strip()
        if self.draw(st.booleans()):
            return str(plain)
        secret = self.draw(SECRETS.filter(lambda found: len(found) <= field.most))
        self.secrets.add(secret)
        text = f"{plain} {secret}"
        return text if len(text) <= field.most else str(secret)

    def _one(self, field: kinds.ListOf) -> Any:
        return self.value(field.plain) if field.plain else self.config(field.of)

    def config(self, fields: tuple[kinds.Field, ...]) -> dict[str, Any]:
        used = [field for field in fields if field.required or self.draw(st.booleans())]
        return {field.name: self.value(field) for field in used}

    def step_id(self, position: int) -> str:
        return f"{position}-{self.secret(SECRET_NAMES)}"


def may_go(declared: StepType | TriggerType) -> bool:
    return PLATFORM in declared.channels and not declared.barred


@st.composite
def flows(draw: Any, *, most: int = 5) -> tuple[Flow, set[str]]:
    """A valid flow for WhatsApp, and the secrets in it."""
    building = Building(draw)
    trigger = draw(st.sampled_from([one for one in TRIGGERS.values() if may_go(one)]))
    types = draw(st.lists(st.sampled_from([one for one in STEPS.values() if may_go(one)]), min_size=1, max_size=most))
    steps: list[Step] = []
    for position, declared in enumerate(types, 1):
        config = building.config(declared.fields)
        steps.append({"id": building.step_id(position), "type": declared.name, "config": config, "next": {}})
        if not declared.ports_of(config):
            break
    for step, following in pairwise(steps):
        ports = STEPS[step["type"]].ports_of(step["config"])
        step["next"] = dict.fromkeys(sorted(ports), following["id"])
    config = building.config(trigger.fields)
    flow: Flow = {"trigger": {"type": trigger.name, "config": config}, "entry": steps[0]["id"], "steps": steps}
    return flow, building.secrets


def field_at(flow: Flow, slot: dict[str, str]) -> kinds.Field:
    """The declared field that a slot stands for."""
    declared: StepType | TriggerType = TRIGGERS[flow["trigger"]["type"]]
    for step in flow["steps"]:
        if step["id"] == slot["node"]:
            declared = STEPS[step["type"]]
    fields, found = declared.fields, None
    for part in slot["path"].split("."):
        if part.isdigit():
            assert isinstance(found, kinds.ListOf)
            fields, found = found.of, found.plain
        else:
            found = next(field for field in fields if field.name == part)
    assert found is not None
    return found


def a_value(field: kinds.Field) -> str:
    """Something that another customer might fill in."""
    if isinstance(field, kinds.CustomerValue):
        usual = {"email": "team@else.example", "phone": "+44 20 7946 0000", "url": "https://else.example/"}
        return usual.get(field.of, "theirs-1")
    return {"name": "answer", "variable": "contact.city"}.get(field.kind, "Ours")
