MAX = 4
