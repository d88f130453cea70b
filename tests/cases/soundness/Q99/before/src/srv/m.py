def run(job):
    if job is None:
        return "none"
    if job.ready:
        return "ready"
    return "not"
