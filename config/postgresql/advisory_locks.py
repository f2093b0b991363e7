"""The numbers of all advisory locks: two that share one would wait for each other, or be taken for each other."""

from enum import IntEnum, unique


@unique
class AdvisoryLock(IntEnum):
    """The lock alone, or the class of many that are told apart by a second number. Write `.value` into a statement."""

    INSTALLATION = 7_105_001  # the process that sets an installation up
    DISPATCHER_RUN = 7_105_002  # with a run's number: its process lives
    TASK = 7_105_003  # with a name's hash: a task that runs once at a time
    SENDER_RUN = 7_105_004  # with a run's number: its process lives
    DELIVERY_LOG_DAY = 7_105_005  # the process that makes partitions of the log of deliveries
    REPLAY = 7_105_006  # with an agency's id: two replays would both find what neither has queued yet
    AUDIENCE = 7_105_007  # with a contact's share: who prepares a broadcast, and who changes contacts
    AUDIENCE_CHUNK = 7_105_008  # with a chunk's hash: who prepares it
    CONTAINER = 7_105_009  # with a container's hash: the process that subscribes to it or takes that back
    CHANNEL_INBOX = 7_105_011  # with a channel's number: the reader that applies what came in
    ALLOWANCE_RELEASE = 7_105_021  # the sender that looks for room for recipients who wait
    TRY = 7_105_022  # with the hash of a kind and a key: who tries this piece of work is alive
