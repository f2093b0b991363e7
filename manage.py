#!/usr/bin/env python
"""Runs the product's commands; finds the servers of a running `make run` by itself."""

import os
import sys

from config.local import discovery


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    discovery.load()
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
