def sample(prompt, count, stop):
    return prompt * count + stop
