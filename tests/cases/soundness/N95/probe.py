from srv.draft import Draft
print(Draft().run())
