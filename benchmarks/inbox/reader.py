"""`python -m benchmarks.inbox.reader`: runs a reader of the inbox as a worker does, until it is stopped."""

import django

if __name__ == "__main__":
    django.setup()
    from channelconnect.inbox.reading import run_reader

    run_reader(should_stop=lambda: False)
