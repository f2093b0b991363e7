"""`python -m benchmarks.automations.worker`: runs an engine as a worker does, until it is stopped."""

import django

if __name__ == "__main__":
    django.setup()
    from workspaces.automations.engine.loop import run_engine  # its models need Django to be set up

    run_engine(should_stop=lambda: False)
