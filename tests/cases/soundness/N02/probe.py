from srv.runner import wait
print(wait())
