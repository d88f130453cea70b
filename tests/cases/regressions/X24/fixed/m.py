def _count(state):
    state["done"] = state.get("done", 0) + 1


def run(state, work):
    state["busy"] = True
    try:
        result = work()
        _count(state)
        return result
    finally:
        state["busy"] = False
