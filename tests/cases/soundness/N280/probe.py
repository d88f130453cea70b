from srv.table import TABLE
print(TABLE)
