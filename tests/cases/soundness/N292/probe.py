from srv.runner import Runner, report
print(report(Runner()))
