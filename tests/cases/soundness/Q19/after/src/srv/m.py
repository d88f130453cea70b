class Helper:
    def __init__(self, get_size):
        self.get_size = get_size
    def go(self):
        return self.get_size()
class Top:
    def __init__(self, r):
        self.r = r
        self.h = Helper(lambda: self.r.size)
    def swap(self, r):
        self.r = r
