from srv.runner import label
try:
    print(label(3))
except KeyError as error:
    print(error)
