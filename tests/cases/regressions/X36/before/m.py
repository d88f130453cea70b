def with_self(ranks, me):
    every = list(ranks)
    every.append(me)
    return every
