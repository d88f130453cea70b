from srv.stream import tokens
try:
    tokens(-1)
    print("made")
except ValueError as error:
    print(error)
