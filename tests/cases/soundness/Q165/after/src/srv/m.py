class Board:
    def mix(self, a, b):
        return mix(b=b, a=a)


def mix(a, b):
    return f'{a}-{b}'
