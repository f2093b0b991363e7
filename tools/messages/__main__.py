"""Updates every language's PO file from code and templates, and compiles it: `make messages`."""

import sys

import django

from tools.messages.catalogues import LANGUAGES, path_of, read, translations_of, updated, write
from tools.messages.found import found_messages


def main() -> int:
    django.setup()
    messages = found_messages()
    for language in LANGUAGES:
        catalogue = updated(read(language), messages)
        write(language, catalogue)
        missing = sum(not all(translations_of(message)) for message in catalogue if message.id)
        print(f"{path_of(language)}: {len(messages)} messages, {missing} to translate")
    return 0


if __name__ == "__main__":
    sys.exit(main())
