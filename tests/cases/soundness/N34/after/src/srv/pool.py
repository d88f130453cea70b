class Pool:
    def __init__(self):
        self.used = 4

    def flush(self):
        self.used = 0

    def drain(self):
        return drain(flush=self.flush, get_used=lambda: self.used)


def drain(*, flush, get_used):
    flush()
    return f"freed {get_used()}"
