from srv.draft import Draft
print(Draft(4).plan())
