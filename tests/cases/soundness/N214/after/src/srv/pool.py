class Pool:
    def free_slots(self):
        return 5


def run():
    pool = Pool()
    return pool.free_slots()
