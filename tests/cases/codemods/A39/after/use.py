from dst import pack

OUT = pack([2])
