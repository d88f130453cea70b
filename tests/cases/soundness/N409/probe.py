from srv.t import ran

print(ran())
