def run():
    n = 0

    class Board:
        def bump(self):
            nonlocal n
            n += 1
            return 'b'

    b = Board().bump()
    return n, b
