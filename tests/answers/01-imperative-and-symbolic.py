# %% 1 right
answer_1 = [4, 5, 3]

# %% 1 right
answer_1 = (4, 5, 3)

# %% 1 right
answer_1 = np.array([4, 5, 3]).asnumpy()

# %% 1 wrong: not as many calls as before
# Nothing is saved as long as the network itself is imperative.
answer_1 = [5, 5, 5]

# %% 1 wrong: those are the layers
answer_1 = [3, 3, 3]

# %% 1 wrong: that you handed over
answer_1 = [2, 1, 5]

# %% 1 wrong: one per operator of the layers that are not
# The first layer is gone altogether.
answer_1 = [3, 4, 1]

# %% 1 wrong: only if it has as many operators
# Every layer has two operators.
answer_1 = [4, 4, 3]

# %% 1 wrong: it has no activation
answer_1 = [4, 1, 3]

# %% 1 wrong: Python still goes from layer to layer
# Hybridizing each layer is hybridizing the network.
answer_1 = [4, 5, 1]

# %% 1 wrong: a graph of its own
answer_1 = [4, 5, 5]

# %% 1 wrong: three numbers
answer_1 = 4

# %% 1 wrong: three numbers
answer_1 = ["4 calls", "5 calls", "3 calls"]

# %% 1 wrong: a set has no order
answer_1 = {4, 5, 3}

# %% 2 right
def answer_2(net):
    net.hybridize()
    def serve(requests, debug=False):
        if debug:
            net.hybridize(False)
        answers = [net(request) for request in requests]
        if debug:
            net.hybridize()
        return answers
    return serve

# %% 2 right
# The network is changed only when somebody begins or ends to debug.
class Server:
    def __init__(self, net):
        self.net, self.compiled = net, None
    def __call__(self, requests, debug=False):
        if self.compiled is not (not debug):
            self.compiled = not debug
            self.net.hybridize(self.compiled)
        return [self.net(request) for request in requests]
answer_2 = Server

# %% 2 right
# Nothing is done to a network that comes hybridized, until somebody debugs.
def answer_2(net):
    last = False
    def serve(requests, debug=False):
        nonlocal last
        if debug != last:
            net.hybridize(not debug)
        last = debug
        return [net(request) for request in requests]
    return serve

# %% 2 wrong: more than once
# The lesson's own, unchanged.
answer_2 = start

# %% 2 wrong: each later one traces
# Out of the loop, but still in each round.
def answer_2(net):
    def serve(requests, debug=False):
        net.hybridize(not debug)
        return [net(request) for request in requests]
    return serve

# %% 2 wrong: it still runs compiled
# The first round decides for all.
def answer_2(net):
    begun = []
    def serve(requests, debug=False):
        if not begun:
            net.hybridize(not debug)
            begun.append(True)
        return [net(request) for request in requests]
    return serve

# %% 2 wrong: should run for every request
def answer_2(net):
    compiled = []
    def serve(requests, debug=False):
        if not debug and not compiled:
            net.hybridize()
            compiled.append(True)
        return [net(request) for request in requests]
    return serve

# %% 2 wrong: should run for every request
# Compiled for good: debug is ignored.
def answer_2(net):
    net.hybridize()
    return lambda requests, debug=False: [net(request) for request in requests]

# %% 2 wrong: should run for every request
# Believes that the network is hybridized, and leaves it so.
def answer_2(net):
    return lambda requests, debug=False: [net(request) for request in requests]

# %% 2 wrong: never runs compiled
# The flag is upside down.
def answer_2(net):
    net.hybridize(False)
    def serve(requests, debug=False):
        if debug:
            net.hybridize(True)
        return [net(request) for request in requests]
    return serve

# %% 2 wrong: go back to running compiled
def answer_2(net):
    net.hybridize()
    def serve(requests, debug=False):
        if debug:
            net.hybridize(False)
        return [net(request) for request in requests]
    return serve

# %% 2 wrong: the network that it was started with
# A twin to debug with, made like the lesson's network.
def answer_2(net):
    net.hybridize()
    twin = mlp(256, 128, 2, like=net)
    return lambda requests, debug=False: [(twin if debug else net)(request) for request in requests]

# %% 2 wrong: return the function that serves
# Serves at once.
def answer_2(net, requests=(), debug=False):
    net.hybridize(not debug)
    return [net(request) for request in requests]

# %% 2 wrong: one per request
def answer_2(net):
    net.hybridize()
    def serve(requests, debug=False):
        for request in requests:
            answer = net(request)
        return [answer]
    return serve

# %% 2 wrong: one per request
# All requests in one batch, and one array of all answers.
def answer_2(net):
    net.hybridize()
    return lambda requests, debug=False: [net(np.concatenate(requests))]

# %% 2 wrong: still running
def answer_2(net):
    def serve(requests, debug=False):
        while not net._cached_graph or True:
            pass
    return serve

# %% 2 wrong: takes a network
answer_2 = hybrid.hybridize()

# %% 3 right
def answer_3(asking, compiled, per_row, rows):
    device = rows * per_row
    return max(asking, device) / max(compiled, device)
rows_3 = 75

# %% 3 right
answer_3 = lambda asking, compiled, per_row, rows: round(max(asking, rows * per_row) / max(compiled, rows * per_row), 2)
rows_3 = 75

# %% 3 right
# In NumPy's terms, with seconds in place of microseconds: a ratio has no unit.
def answer_3(asking, compiled, per_row, rows):
    import numpy
    times = numpy.maximum([asking * 1e-6, compiled * 1e-6], rows * per_row * 1e-6)
    return times[0] / times[1]
rows_3 = 150 / 2

# %% 3 wrong: do they take turns
def answer_3(asking, compiled, per_row, rows):
    return (asking + rows * per_row) / (compiled + rows * per_row)
rows_3 = 75

# %% 3 wrong: a difference or a share
answer_3 = lambda asking, compiled, per_row, rows: max(asking, rows * per_row) - max(compiled, rows * per_row)
rows_3 = 75

# %% 3 wrong: a difference or a share
answer_3 = lambda asking, compiled, per_row, rows: 1 - max(compiled, rows * per_row) / max(asking, rows * per_row)
rows_3 = 75

# %% 3 wrong: a difference or a share
# By how many times longer.
answer_3 = lambda asking, compiled, per_row, rows: max(asking, rows * per_row) / max(compiled, rows * per_row) - 1
rows_3 = 75

# %% 3 wrong: you return 0
# No gain.
def answer_3(asking, compiled, per_row, rows):
    return 0 if rows * per_row >= asking else max(asking, rows * per_row) / max(compiled, rows * per_row)
rows_3 = 75

# %% 3 wrong: upside down
def answer_3(asking, compiled, per_row, rows):
    return max(compiled, rows * per_row) / max(asking, rows * per_row)
rows_3 = 75

# %% 3 wrong: how long Python asked
# Ignores the rows.
answer_3 = lambda asking, compiled, per_row, rows: asking / compiled
rows_3 = 75

# %% 3 wrong: shorter than five calls
# Two cases instead of three.
def answer_3(asking, compiled, per_row, rows):
    return asking / compiled if rows * per_row < compiled else 1.0
rows_3 = 75

# %% 3 wrong: the time is Python's
# Never less than nothing: takes the device's time away.
def answer_3(asking, compiled, per_row, rows):
    return max(asking - rows * per_row, 1) / max(compiled - rows * per_row, 1)
rows_3 = 75

# %% 3 wrong: for 150, 30 and 2
def answer_3(asking, compiled, per_row, rows):
    return max(150, rows * 2) / max(30, rows * 2)
rows_3 = 75

# %% 3 wrong: Now the number of rows
def answer_3(asking, compiled, per_row, rows):
    return max(asking, rows * per_row) / max(compiled, rows * per_row)

# %% 3 wrong: no longer overhead-bound
def answer_3(asking, compiled, per_row, rows):
    return max(asking, rows * per_row) / max(compiled, rows * per_row)
rows_3 = 15

# %% 3 wrong: even imperatively
def answer_3(asking, compiled, per_row, rows):
    return max(asking, rows * per_row) / max(compiled, rows * per_row)
rows_3 = 256

# %% 3 wrong: give a function
answer_3 = 5.0

# %% 3 wrong: give a function
answer_3 = max(150, 2 * 1) / max(30, 2 * 1)
