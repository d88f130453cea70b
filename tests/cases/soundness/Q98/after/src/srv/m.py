def run(job, items, log):
    for each in items:
        if job.open:
            log.append(each)
            job.open = False
