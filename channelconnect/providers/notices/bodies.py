"""A callback's raw bytes as JSON."""

import json

import orjson


def json_of(body: bytes) -> object:
    """Read a body; where half a character stands in it, somebody's broken text, a question mark replaces it.

    One such message must not cost the batch that it comes in. Raises `ValueError` for what is no JSON.
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
