from types import SimpleNamespace

STATE = SimpleNamespace(count=0)


def poke():
    STATE.count += 1


def run():
    count = STATE.count
    poke()
    return f"count {count}"
