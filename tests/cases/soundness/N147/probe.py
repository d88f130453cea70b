from srv.stream import first
trace = []
first(trace)
print(trace)
