from srv.runner import Runner
runner = Runner()
label = runner.labeler()
runner.step = 5
print(label())
