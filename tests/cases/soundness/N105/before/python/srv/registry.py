NAMES = []
