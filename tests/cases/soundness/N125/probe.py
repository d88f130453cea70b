from srv.runner import sign, share
print(sign(), share(10, 3, 2))
