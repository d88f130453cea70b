from m import App
print(App().run())
