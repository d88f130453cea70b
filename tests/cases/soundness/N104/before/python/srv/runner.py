import os
import math
from typing import Any, Optional
from collections import deque


def where(path: Optional[Any]):
    return os.path.basename(path), math.floor(2.5), list(deque([1]))
