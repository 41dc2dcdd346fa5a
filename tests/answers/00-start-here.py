# %% 1 right
answer_1 = timeline.end / timeline.returned

# %% 1 right
answer_1 = f"{timeline.end / timeline.returned:.3g}"

# %% 1 right
answer_1 = np.array(timeline.end / timeline.returned)

# %% 1 right
answer_1 = round(end / returned, 1)

# %% 1 wrong: less than 1
answer_1 = timeline.returned / timeline.end

# %% 1 wrong: a difference
answer_1 = timeline.end - timeline.returned

# %% 1 wrong: a difference
answer_1 = (timeline.end - timeline.returned) * 1e3

# %% 1 wrong: fits into the time after it
answer_1 = (timeline.end - timeline.returned) / timeline.returned

# %% 1 wrong: in percent
answer_1 = 100 * timeline.end / timeline.returned

# %% 1 wrong: the time of the whole
answer_1 = timeline.end

# %% 1 wrong: the time of the whole
answer_1 = timeline.end * 1e3

# %% 1 wrong: is not the time of the whole
# The devices' time, without Python's: both devices' shares of the whole.
answer_1 = sum(timeline.utilization.values())

# %% 1 wrong: give a number
answer_1 = timeline

# %% 1 wrong: give a number
answer_1 = lambda: timeline.end / timeline.returned
