class Logs:
    def adjust(self, n):
        return f"log {n}"


class Sizes:
    unit = 1

    def adjust(self, n):
        n = n * 2
        return n + 1
