from m import go
from use import OUT
print(go([1]), OUT)
