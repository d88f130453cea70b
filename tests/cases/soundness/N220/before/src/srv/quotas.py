MAX = 9
