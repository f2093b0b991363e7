"""The numbers of all advisory locks. Uses of the same number would wait for each other or be confused."""

from enum import IntEnum, unique


@unique
class AdvisoryLock(IntEnum):
    """A lock, or the class of many locks that differ in a second number. Write `.value` into a statement."""

    INSTALLATION = 7_105_001  # the process that sets an installation up
    DISPATCHER_RUN = 7_105_002  # with a run's number: its process lives
    TASK = 7_105_003  # with a name's hash: a task that runs once at a time
    SENDER_RUN = 7_105_004  # with a run's number: its process lives
    DELIVERY_LOG_DAY = 7_105_005  # the process that makes partitions of the log of deliveries
    REPLAY = 7_105_006  # with an agency's id: two replays would both find what neither has queued yet
    AUDIENCE = 7_105_007  # with a contact's share: held to prepare a broadcast, and to change contacts
    AUDIENCE_CHUNK = 7_105_008  # with a chunk's hash: held to prepare the chunk
    CONTAINER = 7_105_009  # with a container's hash: the process that subscribes to it or takes that back
    CHANNEL_INBOX = 7_105_011  # with a channel's number: the reader that applies what came in
    ALLOWANCE_RELEASE = 7_105_021  # the sender that looks for room for recipients who wait
    TRY = 7_105_022  # with the hash of a kind and a key: the process that tries this work lives
