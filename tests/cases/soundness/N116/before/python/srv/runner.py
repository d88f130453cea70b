def run(ready, full):
    if ready and full:
        return "run"
    return "wait"
