def run(board, items):
    scaled = (each * board.factor for each in items)
    board.factor = 10
    return list(scaled)
