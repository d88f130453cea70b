def run(ready):
    if ready:
        n = 3
    if ready:
        return f"ready {n}"
    return "idle"
