def now():
    return 0


class A:
    def __init__(self):
        self.interval_seconds = 1
        self.timeout_seconds = 2
        self.sleep_function = print

    @staticmethod
    def wait(
        attempts,
        started=now(),  # noqa: B008
        *,
        interval_seconds,
        timeout_seconds,
        sleep_function,
    ):
        return attempts, started, interval_seconds, timeout_seconds, sleep_function("x")

    def run(self):
        return A.wait(attempts=some_number_of_attempts(), interval_seconds=self.interval_seconds, timeout_seconds=self.timeout_seconds, sleep_function=self.sleep_function)  # noqa: F821


def some_number_of_attempts():
    return 3
