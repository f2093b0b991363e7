"""The outcome of a send: decided from the end of the call, the answer and the table of the provider's error codes."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple

import orjson

from channelconnect.providers.graph import scrubbed
from channelconnect.providers.parsing import Row, minutes_to_wait, number, row, rows, text
from workspaces.conversations.services.automated import WITHDRAWAL_SENTENCES


class CallResult(StrEnum):
    """The result of a call.

    `retry`: certainly not accepted, to be sent again later. `refused`: this message fails for good. `stopped`: every
    similar message would fail now, and repeating makes it worse. `reconnect`: the channel's access has ended.
    `unknown`: it may have been accepted, so it is never sent again.
    """

    ACCEPTED = "accepted"
    RETRY = "retry"
    REFUSED = "refused"
    STOPPED = "stopped"
    RECONNECT = "reconnect"
    UNKNOWN = "unknown"


class ErrorLevel(StrEnum):
    """The level that an error concerns. An error below the level of a template ends no more than its own message."""

    MESSAGE = "message"
    PERSON = "person"
    NUMBER = "number"
    TEMPLATE = "template"
    ACCOUNT = "account"
    APP = "app"


class Backoff(StrEnum):
    """The rule for the wait before a retry: powers of four for one person (`pair`), otherwise as the answer says.

    `access`: until it was checked whether the channel's token still works.
    """

    PAIR = "pair"
    THROTTLE = "throttle"
    NUMBER = "number"
    SERVICE = "service"
    ACCESS = "access"


class SendError(NamedTuple):
    """An error's meaning. `code` is what the API shows: the provider's code, with its subcode if that decides.

    `sentence` is the text for people. `opts_out` says that the person wants no marketing. `doubts_access` says that the
    channel's access may have ended; that is checked before anything follows.
    """

    code: str
    result: CallResult
    sentence: str
    backoff: Backoff = Backoff.SERVICE
    opts_out: bool = False
    level: ErrorLevel = ErrorLevel.MESSAGE
    doubts_access: bool = False


def _all(
    codes: str, level: ErrorLevel, result: CallResult, sentence: str, backoff: Backoff = Backoff.SERVICE
) -> dict[str, SendError]:
    return {code: SendError(code, result, sentence, backoff, level=level) for code in codes.split()}


TOKEN_DEAD: Final = "The channel's access at the provider has ended. Connect the channel again."  # noqa: S105  # no secret
PERMISSION: Final = "The channel lacks a permission at the provider. Connect the channel again."
CLOSED: Final = "The 24-hour window is closed. Send a template, or wait until the person writes."
BARRED: Final = "The provider has barred the account from sending messages."
BUSY: Final = "The provider takes no more messages at the moment."
UNUSABLE: Final = "The number cannot send messages. Check it at the provider."
TEMPLATE: Final = "The provider cannot send this template. Check it there and synchronise the templates."
UNDELIVERABLE: Final = "The message could not be delivered to this person."
CONTENT: Final = "The provider does not take content of this kind."
OUR_FAULT: Final = "The provider did not understand the message."
AWAY: Final = "The provider's service is not available."
SPAM: Final = "The provider limits the number: too many people took it for spam."
UNREACHABLE: Final = "This person cannot be reached on this channel."
REFUSED_ONE: Final = "The provider refused the message."

MESSAGE, PERSON, NUMBER, TEMPLATED, ACCOUNT, APP = ErrorLevel
RETRY, STOPPED, RECONNECT = CallResult.RETRY, CallResult.STOPPED, CallResult.RECONNECT
REFUSE: Final = CallResult.REFUSED
# The Graph API's codes for missing permissions. With a subcode they may mean something else.
PERMISSIONS: Final = ("10", *map(str, range(200, 300)))

# A code with its subcode has precedence over the code alone.
ERRORS: Final[dict[str, SendError]] = {
    **_all("0 102 190", ACCOUNT, RECONNECT, TOKEN_DEAD),
    **_all(" ".join(("3", *PERMISSIONS, "131005")), ACCOUNT, RECONNECT, PERMISSION),
    **_all("10/2018065 10/2018278 10/2534022 131047", PERSON, REFUSE, CLOSED),
    **_all("10/1893063 100/2534029 100/2534122 200/2534041", ACCOUNT, STOPPED, BARRED),
    **_all("4 341", APP, RETRY, BUSY, Backoff.THROTTLE),
    **_all("17 32 613 80001 80002 80007", ACCOUNT, RETRY, BUSY, Backoff.THROTTLE),
    **_all("130429", NUMBER, RETRY, "The number sends faster than it may.", Backoff.NUMBER),
    **_all("131056", PERSON, RETRY, "This person gets too many messages at once.", Backoff.PAIR),
    **_all("131057 2494100", ACCOUNT, RETRY, AWAY),
    **_all("133004 131016", APP, RETRY, AWAY),
    # These may come after the message was accepted.
    **_all("1 2 131000", APP, CallResult.UNKNOWN, "The provider had a fault, and did not say what became of it."),
    **_all("131048", NUMBER, STOPPED, SPAM),
    **_all("131064", ACCOUNT, STOPPED, SPAM),
    **_all("368 131031", ACCOUNT, STOPPED, "The provider has restricted the account."),
    **_all("130497", PERSON, REFUSE, "The provider does not let the account write to people in this person's country."),
    **_all("131042", ACCOUNT, STOPPED, "The account at the provider has no valid payment method."),
    **_all("131037 131045 133010 33 100/33", NUMBER, STOPPED, UNUSABLE),
    **_all("131049", PERSON, REFUSE, "The provider holds back marketing for this person for now."),
    "131050": SendError(
        "131050", REFUSE, "This person wants no marketing of this account.", opts_out=True, level=PERSON
    ),
    **_all("130472", PERSON, REFUSE, "The provider holds this person out of marketing as part of an experiment."),
    **_all("131026", PERSON, REFUSE, UNDELIVERABLE),
    **_all("130403", PERSON, REFUSE, "This person has blocked the account."),
    **_all("131021", PERSON, REFUSE, "A number cannot write to itself."),
    **_all("10900", MESSAGE, REFUSE, "This comment was answered in private before."),
    **_all("10903", MESSAGE, REFUSE, "This comment cannot be answered in private any more."),
    **_all("131051", MESSAGE, REFUSE, CONTENT),
    **_all("131052 131053", MESSAGE, REFUSE, "The provider could not take the file."),
    **_all("10/2018108 200/1545041 551 100/2018001 100/2534014 137000", PERSON, REFUSE, UNREACHABLE),
    **_all("131062", PERSON, REFUSE, "This template needs the person's phone number."),
    **_all("132000 132012", MESSAGE, REFUSE, "The template's parameters do not fit."),
    **_all("132001 132007 132015 132016 132018 132068 132069", TEMPLATED, STOPPED, TEMPLATE),
    **_all("132005", TEMPLATED, STOPPED, "The template's text is too long with these parameters."),
    **_all("131061 131063", TEMPLATED, STOPPED, "The provider takes this template by another way only."),
    **_all("100 131008 131009", MESSAGE, REFUSE, OUR_FAULT),
    # Our own codes, if the provider has given none.
    "send_outcome_unknown": SendError(
        "send_outcome_unknown", CallResult.UNKNOWN, "It is not known whether the provider has sent this message."
    ),
    "channel_not_connected": SendError("channel_not_connected", CallResult.REFUSED, "The channel is not connected."),
    "no_address": SendError("no_address", CallResult.REFUSED, "The contact has no address on this channel."),
    "contact_opted_out": SendError(
        "contact_opted_out", CallResult.REFUSED, "The contact has opted out since the message was written."
    ),
    "workspace_suspended": SendError(
        "workspace_suspended",
        CallResult.REFUSED,
        "The workspace was suspended, and the message more than an hour old when it was restored.",
    ),
    "window_closed": SendError("window_closed", CallResult.REFUSED, CLOSED),
    "comment_too_old": SendError(
        "comment_too_old", CallResult.REFUSED, "A comment can be answered in private for seven days only."
    ),
    **{code: SendError(code, CallResult.REFUSED, sentence) for code, sentence in WITHDRAWAL_SENTENCES.items()},
    "provider_unavailable": SendError(
        "provider_unavailable", CallResult.RETRY, "The provider could not be reached.", Backoff.SERVICE
    ),
    "provider_throttled": SendError("provider_throttled", CallResult.RETRY, BUSY, Backoff.THROTTLE),
    "message_refused": SendError("message_refused", CallResult.REFUSED, REFUSED_ONE),
    "message_invalid": SendError(
        "message_invalid", CallResult.REFUSED, "The message cannot be written for this channel."
    ),
}
OUTCOME_UNKNOWN: Final = ERRORS["send_outcome_unknown"]
NOT_CONNECTED: Final = ERRORS["channel_not_connected"]
NO_ADDRESS: Final = ERRORS["no_address"]
COMMENT_TOO_OLD: Final = ERRORS["comment_too_old"]
UNAVAILABLE: Final = ERRORS["provider_unavailable"]
THROTTLED: Final = ERRORS["provider_throttled"]
REFUSED: Final = ERRORS["message_refused"]
INVALID: Final = ERRORS["message_invalid"]
# A permission error with an unknown subcode. It may concern this message alone, or the access has ended.
DOUBTFUL: Final = SendError(
    "message_refused", RETRY, REFUSED_ONE, Backoff.ACCESS, level=ErrorLevel.ACCOUNT, doubts_access=True
)


def error_of(code: int | None, subcode: int | None = None) -> SendError:
    """Return the meaning of a code. An unknown code refuses this message."""
    if code is None:
        return REFUSED
    exact = ERRORS.get(f"{code}/{subcode}")
    if exact is None and subcode and str(code) in PERMISSIONS:
        return DOUBTFUL._replace(code=f"{code}/{subcode}")
    return exact or ERRORS.get(str(code)) or REFUSED._replace(code=str(code))


def as_message_refusal(error: SendError) -> SendError:
    """Return the meaning of an error that doubted an access which still works: it refuses this message."""
    return REFUSED._replace(code=error.code)


def sentence_of(code: str) -> str:
    """Return the text for an error code such as `131047` or `10/2018278`."""
    return known_sentence(code) or REFUSED.sentence


def known_sentence(code: str) -> str:
    """Return the text for an error code; empty for an unknown code."""
    number, _, subcode = code.partition("/")
    exact = ERRORS.get(code)
    if exact is None and subcode and number in PERMISSIONS:
        return ""
    found = exact or ERRORS.get(number)
    return found.sentence if found else ""


LONGEST_ID: Final = 512
TOO_MANY: Final = 429
SERVER_FAULT: Final = 500
# Answers of proxies and of addresses without a Graph API. Nobody has read the message.
NOT_TAKEN: Final = (408, 425, TOO_MANY)


class Outcome(NamedTuple):
    """The outcome of a send. `error` says why it was not accepted; `wait_seconds` is the wait that the answer names.

    `details` is the provider's further text, without secrets.
    """

    result: CallResult
    message_id: str = ""
    error: SendError | None = None
    wait_seconds: float = 0.0
    details: str = ""
    is_held: bool = False

    @property
    def sentence(self) -> str:
        """The text for people: ours, plus the provider's if we have no text for its code."""
        if self.error is None:
            return ""
        is_known = self.error.sentence != REFUSED.sentence or not self.details
        return self.error.sentence if is_known else f"{self.error.sentence} It says: {self.details}"


UNSENDABLE: Final = Outcome(CallResult.REFUSED, error=INVALID)
UNREACHED: Final = Outcome(CallResult.RETRY, error=UNAVAILABLE)
UNKNOWN_RESULT: Final = Outcome(CallResult.UNKNOWN, error=OUTCOME_UNKNOWN)


def read_answer(*, status: int | None, body: bytes, headers: Mapping[str, str], written: bool, token: str) -> Outcome:
    """Decide the outcome of a call. `written` says whether the provider may have received any of it."""
    if status is None:
        return UNKNOWN_RESULT if written else UNREACHED
    answer = _parsed(body)
    error = row((answer or {}).get("error"))
    if error:
        return _refused(error, status, headers, token)
    if status < 300:
        return _accepted(answer or {})
    if status in NOT_TAKEN:
        return Outcome(CallResult.RETRY, error=THROTTLED, wait_seconds=minutes_to_wait(headers) * 60.0)
    if status >= SERVER_FAULT:
        return UNKNOWN_RESULT
    return (
        Outcome(CallResult.RETRY, error=UNAVAILABLE) if answer is None else Outcome(CallResult.REFUSED, error=REFUSED)
    )


def of_comment(outcome: Outcome) -> Outcome:
    """Return the outcome of an answer to a comment. A permission that it lacks says nothing about other messages."""
    error = outcome.error
    if error is None or not (error.doubts_access or error.sentence == PERMISSION):
        return outcome
    refused = error._replace(result=REFUSE, level=ErrorLevel.MESSAGE, doubts_access=False)
    return outcome._replace(result=REFUSE, error=refused)


def _accepted(answer: Row) -> Outcome:
    """Find the id of the message as WhatsApp or the Send API gives it, or of a published comment.

    Without an id the outcome is unknown.
    """
    [first, *_] = rows(answer.get("messages")) or [{}]
    found = (first.get("id"), answer.get("message_id"), answer.get("id"))
    message_id = next((known for one in found if (known := text(one, LONGEST_ID))), "")
    if not message_id:
        return UNKNOWN_RESULT
    is_held = text(first.get("message_status")) in ("held_for_quality_assessment", "paused")
    return Outcome(CallResult.ACCEPTED, message_id=message_id, is_held=is_held)


def _refused(error: Row, status: int, headers: Mapping[str, str], token: str) -> Outcome:
    code, subcode = number(error.get("code")), number(error.get("error_subcode"))
    found = error_of(code, subcode)
    if status >= SERVER_FAULT and found.result is CallResult.REFUSED:
        return UNKNOWN_RESULT._replace(details=found.code)
    said = text(row(error.get("error_data")).get("details")) or text(error.get("message"))
    details = scrubbed(said, (token,)) if said else ""
    return Outcome(
        found.result,
        error=OUTCOME_UNKNOWN if found.result is CallResult.UNKNOWN else found,
        wait_seconds=minutes_to_wait(headers) * 60.0,
        details=details,
    )


def _parsed(body: bytes) -> Row | None:
    try:
        answer = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    return answer if isinstance(answer, dict) else None
