def now():
    return 0


class A:
    def __init__(self):
        self.interval_seconds = 1
        self.timeout_seconds = 2
        self.sleep_function = print

    def wait(self, attempts, started=now()):  # noqa: B008
        return attempts, started, self.interval_seconds, self.timeout_seconds, self.sleep_function("x")

    def run(self):
        return self.wait(attempts=some_number_of_attempts())  # noqa: F821


def some_number_of_attempts():
    return 3
