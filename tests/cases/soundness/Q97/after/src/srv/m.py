def mark(job):
    job.ready = True


def run(job, log):
    if not job.ready:
        mark(job)
    _first(job, log)
    log.append("second")


def _first(job, log):
    if not job.ready:
        log.append("first")
