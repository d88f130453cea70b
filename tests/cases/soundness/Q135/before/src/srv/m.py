from types import SimpleNamespace

STATE = SimpleNamespace(count=0)


def poke():
    STATE.count += 1


def run():
    poke()
    return f"count {STATE.count}"
