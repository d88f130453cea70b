class Other:
    def helper(self):
        return 2


class K:
    def f(self, other):
        return 1
