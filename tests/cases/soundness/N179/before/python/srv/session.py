def demote(runner):
    setattr(runner, "rank", 0)
