class Board:
    def mix(self, a, b):
        return mix(b, a)


def mix(a, b):
    return f'{a}-{b}'
