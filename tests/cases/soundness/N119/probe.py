from srv.runner import admit
print(admit(float("nan"), 1.0))
