import m
import use
print(m.HAVE, use.OUT)
