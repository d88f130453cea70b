class Cart:
    def __init__(self):
        self.items = []

    @property
    def total(self):
        return sum(self.items)

    def add(self, price):
        self.items.append(price)
        return self.total
