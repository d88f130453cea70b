def keep(xs):
    newest = None
    kept = [newest := x for x in xs if x]
    return kept, newest
