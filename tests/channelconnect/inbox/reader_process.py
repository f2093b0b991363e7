"""`python -m tests.channelconnect.inbox.reader_process`: a reader of the inbox, until it is killed."""

import django

if __name__ == "__main__":
    django.setup()
    from channelconnect.inbox.reading import run_reader

    run_reader(should_stop=lambda: False)
