class Job:
    def __init__(self):
        self.ready = False

    def prepare(self):
        self.ready = True


def run(job):
    is_ready = job.ready
    job.prepare()
    if is_ready:
        return "ready"
    return "not ready"
