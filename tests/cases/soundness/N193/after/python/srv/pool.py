from srv.sizing import free_slots


class Pool:
    def __init__(self, size):
        self.size = size
        self.used = 0

    @property
    def free(self):
        return free_slots(size=self.size, used=self.used)
