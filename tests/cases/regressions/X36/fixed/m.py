def with_self(ranks, me):
    every = [*ranks]
    every.append(me)
    return every
