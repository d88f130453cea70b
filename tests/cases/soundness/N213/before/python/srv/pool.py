class Pool:
    def __init__(self):
        self.cnt = 7


def used(pool: Pool) -> int:
    return pool.cnt
