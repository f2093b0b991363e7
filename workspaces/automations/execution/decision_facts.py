"""What a decision about an event is based on: the event, the contact and its runs."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from workspaces.automations.execution.types import CallEnded, Replied, WaitKind


@dataclass(frozen=True, slots=True)
class EventFacts:
    """What an event says. `kind` is that of `TriggerEvent`. `platform` is its channel's, or "".

    `subject` is the post of a comment, the tag, the days of silence and so on. `ad` is the ad from which a message
    came: "" if its id is not known, None if there is none. `story` is "reply" if a message replies to a story and
    "mention" if it mentions the business in one. `is_automatic` is True for echoes and out-of-office replies,
    `is_opt_out` for a word such as STOP. `cause` is the automation whose run caused the fact. `automation_id` is the
    one that a `start` starts. `run_id`, `seq` and `call` belong to `call_ended`. `values` are those of the fact that a
    run may use.
    """

    kind: str
    platform: str = ""
    text: str = ""
    message_type: str = "text"
    payload: str = ""
    media: str = ""
    subject: str = ""
    ad: str | None = None
    story: str = ""
    is_automatic: bool = False
    is_opt_out: bool = False
    depth: int = 0
    cause: int | None = None
    automation_id: int | None = None
    run_id: int | None = None
    seq: int = 0
    call: CallEnded | None = None
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def _accepts_all(reply: Replied) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class ListeningRun:
    """The run that listens to the conversation.

    Its buttons have the payload `run:<token>:<seq>:<port>`. After a question was asked again, the buttons of all its
    askings count: from `oldest_seq` to `seq`. `ports` are those of its buttons, empty if they are not known. `options`
    are the titles of its choices. `accepts` says whether its question would accept a reply.
    """

    run_id: int
    token: str
    seq: int
    oldest_seq: int | None = None
    ports: Collection[str] = ()
    options: Sequence[str] = ()
    accepts: Callable[[Replied], bool] = _accepts_all


@dataclass(frozen=True, slots=True)
class WaitingRun:
    """A run of the contact that waits for something other than a reply."""

    run_id: int
    wait_kind: WaitKind
    seq: int = 0
    key: str = ""
    stops_on_reply: bool = False


def _may_enter_any(automation_id: int) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class ContactFacts:
    """What decides besides the event.

    `caught_lately` says that a catch-all answered the contact in the last 24 hours.
    `may_enter` says whether the contact may start an automation now: it has no active run of it, and the automation's
    rule for coming again allows it. `end_on_booking` are runs that end when the contact books an appointment.
    """

    paused: bool = False
    opted_out: bool = False
    blocked: bool = False
    is_first_message: bool = False
    is_open_now: bool = True
    caught_lately: bool = False
    languages: Sequence[str] = ("en",)
    listening: ListeningRun | None = None
    waiting: Sequence[WaitingRun] = ()
    end_on_booking: Sequence[int] = ()
    may_enter: Callable[[int], bool] = _may_enter_any
