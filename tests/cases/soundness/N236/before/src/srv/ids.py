from itertools import count

_ids = count()
FIRST = next(_ids)
SECOND = next(_ids)
