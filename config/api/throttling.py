"""Counts requests in windows of a minute. A window begins with its first request, and exactly the limit passes."""

import hashlib
from dataclasses import dataclass
from typing import cast

import redis as redis_client

from config.metrics import count as count_metric
from config.redis import RedisUnavailable, call_redis

WINDOW_SECONDS = 60
# One script, so that no other request comes between the count and the decision. If somebody removed a counter's expiry,
# the script sets it again; otherwise the counter would refuse for ever.
SCRIPT = """
local count = redis.call('INCR', KEYS[1])
if count == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
if count <= tonumber(ARGV[1]) then return {count, 0} end
local left = redis.call('PTTL', KEYS[1])
if left < 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  left = tonumber(ARGV[2])
end
return {count, left}
"""
DIGEST = hashlib.sha1(SCRIPT.encode(), usedforsecurity=False).hexdigest()


@dataclass(frozen=True, slots=True)
class RateLimit:
    """At most `size` requests in a window for one `bucket`. A bucket never holds a key's text."""

    bucket: str
    size: int


@dataclass(frozen=True, slots=True)
class RateLimitStatus:
    """The caller's state after this request. `retry_after` (seconds) is set only if the request was over the limit."""

    limit: int
    remaining: int
    retry_after: int | None

    @property
    def headers(self) -> dict[str, str]:
        return {"X-RateLimit-Limit": str(self.limit), "X-RateLimit-Remaining": str(self.remaining)}


def _count(redis: "redis_client.Redis", limit: RateLimit) -> list[int]:
    arguments = (f"limit:{limit.bucket}", limit.size, WINDOW_SECONDS * 1000)
    try:
        return cast("list[int]", redis.evalsha(DIGEST, 1, *arguments))
    except redis_client.exceptions.NoScriptError:
        return cast("list[int]", redis.eval(SCRIPT, 1, *arguments))


def count_request(limit: RateLimit) -> RateLimitStatus | None:
    """Count one request. Returns None if Redis is away; then nothing is counted and everything passes."""
    try:
        number, milliseconds = call_redis(lambda redis: _count(redis, limit))
    except RedisUnavailable:
        count_metric("limiter_without_redis_total")
        return None
    too_many = number > limit.size
    return RateLimitStatus(
        limit=limit.size,
        remaining=max(0, limit.size - number),
        # Redis keeps a counter through its last millisecond, so this is the next whole second after it.
        retry_after=min(milliseconds // 1000 + 1, WINDOW_SECONDS) if too_many else None,
    )
