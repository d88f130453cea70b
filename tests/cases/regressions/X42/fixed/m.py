def step(lock, timer, run):
    with lock, timer:
        run()
