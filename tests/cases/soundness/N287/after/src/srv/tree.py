class Tree:
    def __init__(self, width):
        self.width = width

    def leaves(self, depth):
        return leaves(depth, width=self.width)


def leaves(depth, *, width):
    if depth == 0:
        return 1
    return width * leaves(depth - 1, width=width)
