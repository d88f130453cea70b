from srv.runner import Runner
print(Runner("main", "draft").url())
