# %% 1 right
answer_1 = (gaps.operators[-1].end - gaps.operators[0].start) / plain

# %% 1 right
spans = [(operator.start, operator.end) for operator in gaps.operators]
answer_1 = f"{(max(spans)[1] - min(spans)[0]) / plain:.3g}"

# %% 1 right
answer_1 = torch.tensor(gaps.operators[39].end - gaps.operators[0].start) / plain

# %% 1 right
first, *_, last = gaps.operators
answer_1 = round((last.end - first.start) / plain, 2)

# %% 1 wrong: before the first addition
answer_1 = gaps.end / plain

# %% 1 wrong: before the first addition
answer_1 = gaps.returned / plain

# %% 1 wrong: before the first addition
answer_1 = gaps.operators[-1].end / plain

# %% 1 wrong: leaves out the gaps
answer_1 = gaps.busy("cpu") / plain

# %% 1 wrong: leaves out the gaps
answer_1 = sum(operator.end - operator.start for operator in gaps.operators) / plain

# %% 1 wrong: the other way round
answer_1 = plain / (gaps.operators[-1].end - gaps.operators[0].start)

# %% 1 wrong: not how many times as long
answer_1 = (gaps.operators[-1].end - gaps.operators[0].start - plain) / plain

# %% 1 wrong: a difference
answer_1 = gaps.operators[-1].end - gaps.operators[0].start - plain

# %% 1 wrong: in percent
answer_1 = 100 * (gaps.operators[-1].end - gaps.operators[0].start) / plain

# %% 1 wrong: the recorded time alone
answer_1 = gaps.operators[-1].end - gaps.operators[0].start

# %% 1 wrong: is in seconds, the other is not
answer_1 = (gaps.operators[-1].end - gaps.operators[0].start) * 1e3 / plain

# %% 1 wrong: multiplied by that
answer_1 = -40  # near no time and no ratio

# %% 1 wrong: give a number
answer_1 = gaps

# %% 1 wrong: give a number
answer_1 = lambda: gaps.end / plain
