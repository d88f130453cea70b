from srv.stage import Stage, parse
try:
    print(parse("RUN").value)
except KeyError as error:
    print(error)
