class Tree:
    def __init__(self, width):
        self.width = width

    def leaves(self, depth):
        if depth == 0:
            return 1
        return self.width * self.leaves(depth - 1)
