from srv.ids import FIRST, SECOND
print(FIRST, SECOND)
