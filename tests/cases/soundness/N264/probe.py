from srv.limits import pages
print(pages(4))
