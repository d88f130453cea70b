def count(ready):
    if ready:
        n = 3
    else:
        n = 1
    return n


def run(ready):
    n = count(ready)
    return f"{ready} {n}"
