from types import SimpleNamespace

STATE = SimpleNamespace(count=0)


def poke():
    STATE.count += 1


def run():
    return _text(STATE.count)


def _text(count):
    poke()
    return f"count {count}"
