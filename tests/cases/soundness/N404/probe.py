from srv.page import shown

print(shown())
