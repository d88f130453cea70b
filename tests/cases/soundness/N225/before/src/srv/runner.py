def run(ready):
    if ready:
        n = 3
    else:
        n = 1
    return f"{ready} {n}"
