def _event(acc):
    return {"all": list(acc), "n": len(acc)}


def stream(tokens):
    acc = []
    for t in tokens:
        acc.append(t)
        yield _event(acc)


def lagging(tokens):
    events = list(stream(tokens))
    return [e["all"][e["n"] - 1:] for e in events]
