from srv.slots import free_slots


class Runner:
    def __init__(self, slots):
        self.slots = slots

    def start(self):
        return free_slots(slots=self.slots)
