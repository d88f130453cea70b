def sample(prompt, count=2, stop="."):
    return prompt * count + stop
