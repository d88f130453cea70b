OK = 0
