"""Parses a callback's raw bytes as JSON."""

import json

import orjson


def json_of(body: bytes) -> object:
    """Parse a body. Half a character, from a broken text, becomes a question mark.

    Otherwise one such message would cost the whole batch. Raises `ValueError` if it is not JSON.
    """
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        pass
    try:
        mended = json.dumps(json.loads(body), ensure_ascii=False)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    return orjson.loads(mended.encode("utf-8", "replace"))
