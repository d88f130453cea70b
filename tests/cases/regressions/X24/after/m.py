def _finish(state):
    state["done"] = state.get("done", 0) + 1
    state["busy"] = False


def run(state, work):
    state["busy"] = True
    result = work()
    _finish(state)
    return result
