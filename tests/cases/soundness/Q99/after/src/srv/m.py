def run(job):
    return _run(job, job.ready)


def _run(job, ready):
    if job is None:
        return "none"
    if ready:
        return "ready"
    return "not"
