def open_session(runner):
    return "open" if runner.free_slots() else "full"
