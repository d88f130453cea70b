from srv.draft import Draft
print(Draft("m").start())
