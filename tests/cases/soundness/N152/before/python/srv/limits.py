MAX = 8
OK = 0
