from srv.draft import Draft
print(Draft().pages(64))
