def count(ready):
    if ready:
        n = 3
    return n


def run(ready):
    n = count(ready)
    if ready:
        return f"ready {n}"
    return "idle"
