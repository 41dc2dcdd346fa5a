# %% 1 right
spans = [(operator.start, operator.end) for operator in gaps.operators]
answer_1 = f"{(max(spans)[1] - min(spans)[0]) / plain:.3g}"

# %% 1 right
first, *_, last = gaps.operators
answer_1 = round((last.end - first.start) / plain, 2)

# %% 1 right, each line
answer_1 = (gaps.operators[-1].end - gaps.operators[0].start) / plain
answer_1 = torch.tensor(gaps.operators[39].end - gaps.operators[0].start) / plain

# %% 1 wrong, each line
answer_1 = gaps.end / plain  # whole-timeline
answer_1 = gaps.returned / plain  # whole-timeline
answer_1 = gaps.operators[-1].end / plain  # time-before-first
answer_1 = gaps.busy("cpu") / plain  # without-gaps
answer_1 = sum(operator.end - operator.start for operator in gaps.operators) / plain  # without-gaps
answer_1 = plain / (gaps.operators[-1].end - gaps.operators[0].start)  # upside-down
answer_1 = (gaps.operators[-1].end - gaps.operators[0].start - plain) / plain  # times-longer
answer_1 = gaps.operators[-1].end - gaps.operators[0].start - plain  # difference
answer_1 = 100 * (gaps.operators[-1].end - gaps.operators[0].start) / plain  # in-percent
answer_1 = gaps.operators[-1].end - gaps.operators[0].start  # time-alone
answer_1 = (gaps.operators[-1].end - gaps.operators[0].start) * 1e3 / plain  # mixed-units
answer_1 = -4e10  # near no time and no ratio  # another-ratio
answer_1 = gaps  # no-number
answer_1 = lambda: gaps.end / plain  # no-number
