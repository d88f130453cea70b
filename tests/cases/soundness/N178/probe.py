from srv.draft import Draft
print(Draft().plan(2))
