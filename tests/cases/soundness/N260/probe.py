from srv.template import CONFIG
print(CONFIG)
