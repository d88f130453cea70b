def many(board, xs):
    return [board.scale(x, 2) for x in xs]
