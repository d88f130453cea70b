from m import Job


class Heavy(Job):
    def __post_init__(self):
        self.n += 1
