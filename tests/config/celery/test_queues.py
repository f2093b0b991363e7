"""Every task has a queue, a limit and a worker, and none of them expires."""

from celery import current_app

from config.celery import app
from config.queues import QUEUES, TASKS
from tools.local.runner.plan import WORKERS

VISIBILITY_SECONDS = 600


def own_tasks() -> set[str]:
    app.loader.import_default_modules()
    return {name for name in current_app.tasks if not name.startswith("celery.")}


def test_every_registered_task_is_declared() -> None:
    assert own_tasks() == {task.name for task in TASKS}


def test_every_task_waits_in_the_queue_it_is_declared_for() -> None:
    own_tasks()
    routed = {task.name: app.amqp.router.route({}, task.name)["queue"].name for task in TASKS}
    assert routed == {task.name: task.queue.name for task in TASKS}


def test_every_task_is_bounded_and_ends_before_redis_would_bring_it_again() -> None:
    own_tasks()
    for task in TASKS:
        bound = app.tasks[task.name]
        assert (bound.soft_time_limit, bound.time_limit) == (task.queue.soft_seconds, task.queue.hard_seconds)
        assert task.is_kept or task.queue.hard_seconds < VISIBILITY_SECONDS
    assert app.conf.broker_transport_options["visibility_timeout"] == VISIBILITY_SECONDS


def test_nothing_that_beat_asks_for_expires() -> None:
    assert app.conf.beat_schedule
    assert not [entry for entry in app.conf.beat_schedule.values() if entry.get("options")]


def test_every_queue_has_one_worker_of_the_plan() -> None:
    consumed = [queue for worker in WORKERS for queue in worker.queues]
    assert sorted(consumed) == sorted(queue.name for queue in QUEUES)


def test_no_task_of_a_worker_waits_for_another_queue_of_it() -> None:
    """One task of a name is at work at a time, so as many processes as tasks are enough."""
    for worker in WORKERS:
        tasks = [task for task in TASKS if task.queue.name in worker.queues]
        assert len(worker.queues) == 1 or len(tasks) <= worker.processes
    alone = {worker.queues for worker in WORKERS if len(worker.queues) == 1}
    assert alone == {("mail",), ("housekeeping",), ("dispatcher",), ("sender",), ("outside-calls",)}
