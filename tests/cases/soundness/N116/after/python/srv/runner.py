def run(ready, full):
    if not ready and not full:
        return "wait"
    return "run"
