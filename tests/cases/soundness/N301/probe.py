from srv.draft import Draft
try:
    print(Draft(1, 4).title())
except AttributeError as error:
    print(error)
