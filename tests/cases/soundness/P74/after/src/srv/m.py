class Other:
    def helper(self):
        return 2


class K:
    def helper(self):
        return 1

    def f(self, other):
        return other.helper()
