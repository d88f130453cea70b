from itertools import count

_ids = count()
SECOND = next(_ids)
FIRST = next(_ids)
