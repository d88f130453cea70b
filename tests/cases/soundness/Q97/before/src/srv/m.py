def mark(job):
    job.ready = True


def run(job, log):
    if not job.ready:
        mark(job)
        log.append("first")
    log.append("second")
