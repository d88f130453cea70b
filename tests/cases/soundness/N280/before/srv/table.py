TABLE = []
TABLE.append(1)
TABLE.append(2)
