def step(lock, timer, run):
    with timer, lock:
        run()
