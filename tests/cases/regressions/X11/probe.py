from m import connect
for tls in (False, True):
    print(vars(connect("h", tls, 5, True)))
