class Runner:
    def stop(self):
        return "stopped"

    def run(self):
        return self.launch()

    def launch(self):
        return "launched"
