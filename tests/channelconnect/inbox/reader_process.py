"""`python -m tests.channelconnect.inbox.reader_process`: a reader of the inbox, until it is killed."""

import django

if __name__ == "__main__":
    django.setup()
    from channelconnect.inbox.reading import run_reader
    from tests.database.limits import set_longer_limits

    set_longer_limits()
    run_reader(should_stop=lambda: False)
