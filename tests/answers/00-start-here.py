# %% 1 right, each line
answer_1 = timeline.end / timeline.returned
answer_1 = f"{timeline.end / timeline.returned:.3g}"
answer_1 = np.array(timeline.end / timeline.returned)
answer_1 = round(end / returned, 1)

# %% 1 wrong, each line
answer_1 = timeline.returned / timeline.end  # upside-down
answer_1 = timeline.end - timeline.returned  # difference
answer_1 = (timeline.end - timeline.returned) * 1e3  # difference-in-ms
answer_1 = (timeline.end - timeline.returned) / timeline.returned  # leaves-out-python
answer_1 = timeline.end / timeline.returned + 1  # counts-python-twice
answer_1 = 100 * timeline.end / timeline.returned  # in-percent
answer_1 = timeline.end  # whole-time
answer_1 = timeline.end * 1e3  # whole-time-in-ms
# The devices' time, without Python's: both devices' shares of the whole.
answer_1 = sum(timeline.utilization.values())  # other-ratio
answer_1 = timeline  # no-number
answer_1 = lambda: timeline.end / timeline.returned  # no-number
