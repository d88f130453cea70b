class Runner:
    def __init__(self, slots):
        self.slots = slots

    def start(self):
        return self.free_slots()

    def free_slots(self):
        return self.slots - 1
