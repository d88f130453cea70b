MAX = 8
