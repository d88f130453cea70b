from m import Disk, Store
log = []
Store(log)
print(Disk(log, "scratch").name, log)
