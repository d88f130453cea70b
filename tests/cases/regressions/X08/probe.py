from m import tags
print(tags("main"), tags("draft"))
