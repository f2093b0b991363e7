"""Those who listen to Redis: of this run's own database, as the server has those of other runs, too."""

from config.redis import client


def cut_subscribers() -> int:
    """End the connections of whoever listens to a channel, as a restart of Redis does; say how many."""
    redis = client()
    own = str(redis.connection_pool.connection_kwargs.get("db", 0))
    found = [one["id"] for one in redis.client_list(_type="pubsub") if one["db"] == own]
    return sum(redis.client_kill_filter(_id=one) for one in found)
