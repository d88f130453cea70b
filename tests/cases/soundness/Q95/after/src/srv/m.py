def run(items):
    rows = list(items)
    shown = (each for each in items if each in rows)
    last = [1]
    return list(shown), last
