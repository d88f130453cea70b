def label(ready, n):
    if ready:
        return f"ready {n}"
    return "idle"


def run(ready):
    if ready:
        n = 3
    return label(ready, n)
