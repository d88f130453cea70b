def run(board, items):
    factor = board.factor
    scaled = (each * factor for each in items)
    board.factor = 10
    return list(scaled)
