"""`python -m tests.processes.preloaded MODULE ARGUMENTS`: calls the module's `main` when all of the product is loaded.

For processes that fork one child after another: none of them loads it again, or copies it when it collects garbage.
"""

import gc
import sys
from importlib import import_module

import django
from django.urls import reverse
from django.utils.translation import gettext

PRELOADED = ("-m", "tests.processes.preloaded")


if __name__ == "__main__":
    django.setup()
    main = import_module(sys.argv[1]).main
    reverse("console:notifications")  # the routes, and with them every view
    gettext("Notifications")
    gc.collect()
    gc.freeze()
    main(*sys.argv[2:])
