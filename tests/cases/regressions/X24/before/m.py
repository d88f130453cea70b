def run(state, work):
    state["busy"] = True
    try:
        result = work()
        state["done"] = state.get("done", 0) + 1
        return result
    finally:
        state["busy"] = False
