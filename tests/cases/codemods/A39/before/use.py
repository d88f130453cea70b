from m import pack

OUT = pack([2])
