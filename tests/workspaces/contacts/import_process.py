"""`python -m tests.workspaces.contacts.import_process`: takes in files as a worker does, until it is killed."""

import django

if __name__ == "__main__":
    django.setup()
    from workspaces.contacts.tasks import import_files

    while True:
        import_files()
