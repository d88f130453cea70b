import os
import m
os.chdir("/")
print(m.place("a"), m.place("a", "/tmp"))
