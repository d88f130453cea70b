class Helper:
    def __init__(self, get_size):
        self.get_size = get_size
    def go(self):
        return self.get_size()
def build(r, other):
    h = Helper(lambda: r.size)
    r = other
    return h, r
