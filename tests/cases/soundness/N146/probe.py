from srv.stream import Stream
print(list(Stream().tokens([1, 2])))
