from srv.draft import Draft
print(Draft(3).plan())
