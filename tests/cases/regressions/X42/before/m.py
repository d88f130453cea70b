def step(lock, timer, run):
    with lock:
        with timer:
            run()
