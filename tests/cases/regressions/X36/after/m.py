def with_self(ranks: list, me):
    every = ranks
    every.append(me)
    return every
