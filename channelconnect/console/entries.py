"""placeholder"""


def register() -> None: ...
