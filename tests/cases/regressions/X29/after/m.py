import functools


class Cart:
    def __init__(self):
        self.items = []

    @functools.cached_property
    def total(self):
        return sum(self.items)

    def add(self, price):
        self.items.append(price)
        return self.total
