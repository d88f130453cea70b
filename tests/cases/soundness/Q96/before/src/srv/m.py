class Job:
    def __init__(self):
        self.ready = False

    def prepare(self):
        self.ready = True


def run(job):
    job.prepare()
    if job.ready:
        return "ready"
    return "not ready"
