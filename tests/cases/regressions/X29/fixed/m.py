def _sum(items):
    return sum(items)


class Cart:
    def __init__(self):
        self.items = []

    @property
    def total(self):
        return _sum(self.items)

    def add(self, price):
        self.items.append(price)
        return self.total
