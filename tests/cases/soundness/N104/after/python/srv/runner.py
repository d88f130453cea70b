import math
import os
from collections import deque
from typing import Any, Optional


def where(path: Optional[Any]):
    return os.path.basename(path), math.floor(2.5), list(deque([1]))
