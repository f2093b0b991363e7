"""What each error of a send means for the message: one table, in the provider's codes."""

from enum import StrEnum
from typing import Final, NamedTuple


class CallResult(StrEnum):
    """What follows from how a call ended.

    `retry`: provably not accepted, due again later. `refused`: this message fails for good. `stopped`: so would every
    other one like it now, as repeating makes it worse. `reconnect`: the channel's access has ended. `unknown`: it may
    have been accepted, so it is never sent again.
    """

    ACCEPTED = "accepted"
    RETRY = "retry"
    REFUSED = "refused"
    STOPPED = "stopped"
    RECONNECT = "reconnect"
    UNKNOWN = "unknown"


class Backoff(StrEnum):
    """How long to wait before a retry: for one person in powers of four, else as the answer says."""

    PAIR = "pair"
    THROTTLE = "throttle"
    NUMBER = "number"
    SERVICE = "service"


class SendError(NamedTuple):
    """`code` is what the API shows: the provider's, with its subcode where that decides; `sentence` what people read.

    `opts_out` says that the person wants no marketing.
    """

    code: str
    result: CallResult
    sentence: str
    backoff: Backoff = Backoff.SERVICE
    opts_out: bool = False


def _all(
    codes: tuple[str, ...], result: CallResult, sentence: str, backoff: Backoff = Backoff.SERVICE
) -> dict[str, SendError]:
    return {code: SendError(code, result, sentence, backoff) for code in codes}


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

# A code with its subcode goes before the code alone.
ERRORS: Final[dict[str, SendError]] = {
    **_all(("0", "102", "190"), CallResult.RECONNECT, TOKEN_DEAD),
    **_all(("3", "10", *map(str, range(200, 300)), "131005"), CallResult.RECONNECT, PERMISSION),
    **_all(("10/2018278", "10/2534022", "131047", "1545041"), CallResult.REFUSED, CLOSED),
    **_all(("10/1893063", "100/2534029", "100/2534122", "200/2534041"), CallResult.STOPPED, BARRED),
    **_all(("4", "17", "32", "341", "613", "80001", "80002", "80007"), CallResult.RETRY, BUSY, Backoff.THROTTLE),
    **_all(("130429",), CallResult.RETRY, "The number sends faster than it may.", Backoff.NUMBER),
    **_all(("131056",), CallResult.RETRY, "This person gets too many messages at once.", Backoff.PAIR),
    **_all(("131057", "2494100", "133004", "131016"), CallResult.RETRY, "The provider's service is not available."),
    # They may come after the message was taken.
    **_all(("1", "2", "131000"), CallResult.UNKNOWN, "The provider had a fault, and did not say what became of it."),
    **_all(
        ("131048", "131064"), CallResult.STOPPED, "The provider limits the number: too many people took it for spam."
    ),
    **_all(("368", "131031", "130497"), CallResult.STOPPED, "The provider has restricted the account."),
    **_all(("131042",), CallResult.STOPPED, "The account at the provider has no valid payment method."),
    **_all(("131037", "131045", "133010", "33", "100/33"), CallResult.STOPPED, UNUSABLE),
    **_all(("131049",), CallResult.REFUSED, "The provider holds back marketing for this person for now."),
    "131050": SendError("131050", CallResult.REFUSED, "This person wants no marketing of this account.", opts_out=True),
    **_all(
        ("130472",), CallResult.REFUSED, "The provider holds this person out of marketing as part of an experiment."
    ),
    **_all(("131026",), CallResult.REFUSED, UNDELIVERABLE),
    **_all(("130403",), CallResult.REFUSED, "This person has blocked the account."),
    **_all(("131021",), CallResult.REFUSED, "A number cannot write to itself."),
    **_all(("131051",), CallResult.REFUSED, CONTENT),
    **_all(("131052", "131053"), CallResult.REFUSED, "The provider could not take the file."),
    **_all(("551", "100/2534014", "137000"), CallResult.REFUSED, "This person cannot be reached on this channel."),
    **_all(("131062",), CallResult.REFUSED, "This template needs the person's phone number."),
    **_all(("132000", "132012"), CallResult.REFUSED, "The template's parameters do not fit."),
    **_all(("132001", "132007", "132015", "132016", "132018", "132068", "132069"), CallResult.STOPPED, TEMPLATE),
    **_all(("132005",), CallResult.STOPPED, "The template's text is too long with these parameters."),
    **_all(("131061", "131063"), CallResult.STOPPED, "The provider takes this template by another way only."),
    **_all(("100", "131008", "131009"), CallResult.REFUSED, OUR_FAULT),
    # Ours, where the provider gave no code.
    "send_outcome_unknown": SendError(
        "send_outcome_unknown", CallResult.UNKNOWN, "It is not known whether the provider has sent this message."
    ),
    "channel_not_connected": SendError("channel_not_connected", CallResult.REFUSED, "The channel is not connected."),
    "no_address": SendError("no_address", CallResult.REFUSED, "The contact has no address on this channel."),
    "contact_opted_out": SendError(
        "contact_opted_out", CallResult.REFUSED, "The contact has opted out since the message was written."
    ),
    "window_closed": SendError("window_closed", CallResult.REFUSED, CLOSED),
    "provider_unavailable": SendError(
        "provider_unavailable", CallResult.RETRY, "The provider could not be reached.", Backoff.SERVICE
    ),
    "provider_throttled": SendError("provider_throttled", CallResult.RETRY, BUSY, Backoff.THROTTLE),
    "message_refused": SendError("message_refused", CallResult.REFUSED, "The provider refused the message."),
    "message_invalid": SendError(
        "message_invalid", CallResult.REFUSED, "The message cannot be written for this channel."
    ),
}
OUTCOME_UNKNOWN: Final = ERRORS["send_outcome_unknown"]
NOT_CONNECTED: Final = ERRORS["channel_not_connected"]
NO_ADDRESS: Final = ERRORS["no_address"]
UNAVAILABLE: Final = ERRORS["provider_unavailable"]
THROTTLED: Final = ERRORS["provider_throttled"]
REFUSED: Final = ERRORS["message_refused"]
INVALID: Final = ERRORS["message_invalid"]


def error_of(code: int | None, subcode: int | None = None) -> SendError:
    """Find what a code means; one that is not known is this message's refusal."""
    if code is None:
        return REFUSED
    found = ERRORS.get(f"{code}/{subcode}") or ERRORS.get(str(code))
    return found or REFUSED._replace(code=str(code))


def sentence_of(code: str) -> str:
    """What people read of an error code, such as `131047` or `10/2018278`."""
    return known_sentence(code) or REFUSED.sentence


def known_sentence(code: str) -> str:
    """What people read of an error code; nothing for one that we do not know."""
    found = ERRORS.get(code) or ERRORS.get(code.partition("/")[0])
    return found.sentence if found else ""
