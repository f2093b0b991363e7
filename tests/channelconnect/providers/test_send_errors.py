"""What each error of a send is about, and what follows: what is one person's or one message's stops nobody else."""

import pytest

from channelconnect.providers.message_results import ERRORS, CallResult, ErrorLevel, error_of, sentence_of

MESSAGE, PERSON, NUMBER, TEMPLATE, ACCOUNT, APP = ErrorLevel
RETRY, REFUSED, STOPPED, RECONNECT, UNKNOWN = (
    CallResult.RETRY,
    CallResult.REFUSED,
    CallResult.STOPPED,
    CallResult.RECONNECT,
    CallResult.UNKNOWN,
)
# By level and result: the provider's codes, with the subcode where that decides.
KNOWN = [
    (ACCOUNT, RECONNECT, "0 102 190 3 10 200 210 230 299 131005"),
    (PERSON, REFUSED, "10/2018065 10/2018278 10/2534022 131047"),
    (PERSON, REFUSED, "10/2018108 200/1545041 551 100/2018001 100/2534014 137000"),
    (PERSON, REFUSED, "131049 131050 130472 131026 130403 131021 131062 130497"),
    (PERSON, RETRY, "131056"),
    (MESSAGE, REFUSED, "131051 131052 131053 132000 132012 100 131008 131009 10900 10903"),
    (NUMBER, RETRY, "130429"),
    (NUMBER, STOPPED, "131048 131037 131045 133010 33 100/33"),
    (TEMPLATE, STOPPED, "132001 132005 132007 132015 132016 132018 132068 132069 131061 131063"),
    (ACCOUNT, STOPPED, "10/1893063 100/2534029 100/2534122 200/2534041 131064 368 131031 131042"),
    (ACCOUNT, RETRY, "17 32 613 80001 80002 80007 131057 2494100"),
    (APP, RETRY, "4 341 133004 131016"),
    (APP, UNKNOWN, "1 2 131000"),
]
CODES = [(code, level, result) for level, result, codes in KNOWN for code in codes.split()]


@pytest.mark.parametrize(("code", "level", "result"), CODES, ids=[code for code, _, _ in CODES])
def test_each_code_has_its_level_and_its_result(code: str, level: ErrorLevel, result: CallResult) -> None:
    number, _, subcode = code.partition("/")
    error = error_of(int(number), int(subcode) if subcode else None)
    assert (error.code, error.level, error.result) == (code, level, result)
    assert not error.doubts_access
    assert sentence_of(code) == error.sentence


def test_no_code_of_the_provider_is_left_out() -> None:
    permissions = set(map(str, range(200, 300)))
    assert {code for code in ERRORS if code[0].isdigit()} == {code for code, _, _ in CODES} | permissions


def test_what_is_about_one_person_or_message_ends_nothing_else() -> None:
    narrow = [error for error in ERRORS.values() if error.level in (MESSAGE, PERSON)]
    assert {error.result for error in narrow} <= {REFUSED, RETRY, UNKNOWN}
    assert all(error.level is ACCOUNT for error in ERRORS.values() if error.result is RECONNECT)


@pytest.mark.parametrize("code", [10, 200, 230, 299])
def test_a_permission_error_with_a_subcode_that_is_not_known_only_casts_doubt(code: int) -> None:
    error = error_of(code, 2018999)
    assert (error.code, error.result, error.doubts_access) == (f"{code}/2018999", RETRY, True)
    assert "Connect the channel again" not in sentence_of(error.code)


@pytest.mark.parametrize("subcode", [None, 0])
def test_without_a_subcode_a_permission_is_missing(subcode: int | None) -> None:
    assert error_of(10, subcode).result is RECONNECT


def test_a_dead_token_is_dead_whatever_the_subcode() -> None:
    assert error_of(190, 460).result is RECONNECT
    assert not error_of(190, 460).doubts_access
