def run(ready, full):
    if not (ready and full):
        return "wait"
    return "run"
