from srv.page import used

print(used())
