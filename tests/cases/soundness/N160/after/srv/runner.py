def run():
    waiting = []
    running = []
    waiting.append(1)
    return running
