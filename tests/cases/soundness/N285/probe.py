from srv.runner import Runner
runner = Runner()
out = []
for each in runner.steps(3):
    out.append(each)
    runner.step += 10
print(out)
