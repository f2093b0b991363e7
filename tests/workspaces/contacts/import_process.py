"""Takes in files as a worker does, until it is killed: for `tests.processes.preloaded`."""

from workspaces.contacts.tasks import import_files


def main() -> None:
    while True:
        import_files()
