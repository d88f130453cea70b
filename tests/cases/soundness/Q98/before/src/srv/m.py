def run(job, items, log):
    if job.open:
        for each in items:
            log.append(each)
            job.open = False
