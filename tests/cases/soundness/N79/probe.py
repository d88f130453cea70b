from srv.runner import place
try:
    print(place(5, numa=True))
except AttributeError as error:
    print(error)
