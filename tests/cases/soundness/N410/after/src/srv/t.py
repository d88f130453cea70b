from typing import Any


def run(client: Any = "c") -> list[Any]:
    bonus = 2

    class Row:
        def __init__(self, value: int) -> None:
            self.value = value

        def shown(self, client: str) -> list[Any]:
            return [self.value + bonus, client]

    return Row(3).shown("x") + [client]


class Tests:
    pass


def ran() -> list[Any]:
    return run()
