# %% 1 right, each line
answer_1 = [4, 5, 3]
answer_1 = (4, 5, 3)
answer_1 = np.array([4, 5, 3]).asnumpy()

# %% 1 wrong, each line
# Nothing is saved as long as the network itself is imperative.
answer_1 = [5, 5, 5]  # saves-nothing
answer_1 = [3, 3, 3]  # counts-layers
answer_1 = [2, 1, 5]  # counts-operators
# The first layer is gone altogether.
answer_1 = [3, 4, 1]  # wrong-first-layer
# Every layer has two operators.
answer_1 = [4, 4, 3]  # last-like-first
answer_1 = [4, 1, 3]  # wrong-last-layer
# Hybridizing each layer is hybridizing the network.
answer_1 = [4, 5, 1]  # whole-network
answer_1 = [4, 5, 5]  # wrong-each-layer
answer_1 = 4  # no-three-numbers
answer_1 = ["4 calls", "5 calls", "3 calls"]  # no-three-numbers
answer_1 = {4, 5, 3}  # in-a-set

# %% 2 right. The network is changed only when somebody begins or ends to debug.
class Server:
    def __init__(self, net):
        self.net, self.compiled = net, None
    def __call__(self, requests, debug=False):
        if self.compiled is not (not debug):
            self.compiled = not debug
            self.net.hybridize(self.compiled)
        return [self.net(request) for request in requests]
answer_2 = Server

# %% 2 wrong: stays-compiled. The first round decides for all.
def answer_2(net):
    begun = []
    def serve(requests, debug=False):
        if not begun:
            net.hybridize(not debug)
            begun.append(True)
        return [net(request) for request in requests]
    return serve

# %% 2 right. Nothing is done to a network that comes hybridized, until somebody debugs.
#- begun = []
#+ last = False
#-         if not begun:
#+         nonlocal last
#+         if debug != last:
#-             begun.append(True)
#+         last = debug

# %% 2 wrong: debugs-compiled. Believes that the network is hybridized, and leaves it so.
def answer_2(net):
    return lambda requests, debug=False: [net(request) for request in requests]

# %% 2 wrong: never-compiled. The flag is upside down.
def answer_2(net):
    net.hybridize(False)
    def serve(requests, debug=False):
        if debug:
            net.hybridize(True)
        return [net(request) for request in requests]
    return serve

# %% 2 wrong: debugs-compiled
#- net.hybridize(False)
#+ compiled = []
#-         if debug:
#-             net.hybridize(True)
#+         if not debug and not compiled:
#+             net.hybridize()
#+             compiled.append(True)

# %% 2 wrong: stays-imperative
def answer_2(net):
    net.hybridize()
    def serve(requests, debug=False):
        if debug:
            net.hybridize(False)
        return [net(request) for request in requests]
    return serve

# %% 2 right
#-         return [net(request) for request in requests]
#+         answers = [net(request) for request in requests]
#+         if debug:
#+             net.hybridize()
#+         return answers

# %% 2 wrong: not-one-per-request
#-         if debug:
#-             net.hybridize(False)
#-         return [net(request) for request in requests]
#+         for request in requests:
#+             answer = net(request)
#+         return [answer]

# %% 2 wrong: returns-no-server. Serves at once.
def answer_2(net, requests=(), debug=False):
    net.hybridize(not debug)
    return [net(request) for request in requests]

# %% 2 wrong: not-one-per-request. All requests in one batch, and one array of all answers.
def answer_2(net):
    net.hybridize()
    return lambda requests, debug=False: [net(np.concatenate(requests))]

# %% 2 wrong: debugs-compiled. Compiled for good: debug is ignored.
#- return lambda requests, debug=False: [net(np.concatenate(requests))]
#+ return lambda requests, debug=False: [net(request) for request in requests]

# %% 2 wrong: debugs-another-network. A twin to debug with, made like the lesson's network.
#-     return lambda requests, debug=False: [net(np.concatenate(requests))]
#+     twin = mlp(256, 128, 2, like=net)
#+     return lambda requests, debug=False: [(twin if debug else net)(request) for request in requests]

# %% 2 wrong: endless
def answer_2(net):
    def serve(requests, debug=False):
        while not net._cached_graph or True:
            pass
    return serve

# %% 2 wrong: traces-each-round. Out of the loop, but still in each round.
#-         while not net._cached_graph or True:
#-             pass
#+         net.hybridize(not debug)
#+         return [net(request) for request in requests]

# %% 2 wrong, each line
# The lesson's own, unchanged.
answer_2 = start  # traces-within-round
answer_2 = hybrid.hybridize()  # no-function

# %% 2 wrong: debugs-compiled. Only the network's own code is imperative; its layers stay compiled.
def answer_2(net):
    from mxnet import ndarray
    net.hybridize()
    return lambda requests, debug=False: [net.hybrid_forward(ndarray, r) if debug else net(r) for r in requests]

# %% 2 wrong: wrong-result. Imperative only the first time that somebody debugs.
def answer_2(net):
    net.hybridize()
    looked = back = False
    def serve(requests, debug=False):
        nonlocal looked, back
        if debug and not looked:
            net.hybridize(False)
            looked = True
        elif not debug and looked and not back:
            net.hybridize()
            back = True
        return [net(request) for request in requests]
    return serve

# %% 2 wrong: wrong-result. It remembers answers by the identity of a request; an array may change.
def answer_2(net):
    net.hybridize()
    memo = {}
    def serve(requests, debug=False):
        if debug:
            net.hybridize(False)
        for request in requests:
            if debug or id(request) not in memo:
                memo[id(request)] = net(request)
        if debug:
            net.hybridize()
        return [memo[id(request)] for request in requests]
    return serve

# %% 2 wrong: wrong-result. The caller's list is empty afterwards.
def answer_2(net):
    net.hybridize()
    def serve(requests, debug=False):
        if debug:
            net.hybridize(False)
        answers = []
        while requests:
            answers.append(net(requests.pop(0)))
        if debug:
            net.hybridize()
        return answers
    return serve

# %% 2 right
#- while requests:
#+ for request in requests:
#- answers.append(net(requests.pop(0)))
#+ answers.append(net(request))

# %% 2 right. Requests in one batch, unless somebody debugs.
#-         while requests:
#-             answers.append(net(requests.pop(0)))
#+         if debug:
#+             answers = [net(request) for request in requests]
#+         else:
#+             answers = list(net(np.concatenate(requests)))
#+             answers = [answer.reshape(1, -1) for answer in answers]

# %% 2 wrong: traces-within-round. Compiled again in the middle of a long round.
#-         while requests:
#-             answers.append(net(requests.pop(0)))
#+         for number, request in enumerate(requests):
#+             if number > 3:
#+                 net.hybridize()
#+             answers.append(net(request))

# %% 2 wrong: wrong-result. Only the last layer is imperative, from the second round of debugging on.
def answer_2(net):
    net.hybridize()
    rounds = []
    def serve(requests, debug=False):
        rounds.append(debug)
        if debug:
            net.hybridize(False)
            if sum(rounds) > 2:
                net[0].hybridize()
        answers = [net(request) for request in requests]
        if debug:
            net.hybridize()
        return answers
    return serve

# %% 3 given
def answer_3(asking, compiled, per_row, rows):
    return max(asking, rows * per_row) / max(compiled, rows * per_row)

# %% 3 wrong, each line
rows_3 = ...  # no-rows
rows_3 = 256  # wrong-rows
rows_3 = 15  # rows-of-compiled

# %% 3 given
rows_3 = 75

# %% 3 right
answer_3 = lambda asking, compiled, per_row, rows: round(max(asking, rows * per_row) / max(compiled, rows * per_row), 2)

# %% 3 right. In NumPy's terms, with seconds in place of microseconds: a ratio has no unit.
def answer_3(asking, compiled, per_row, rows):
    import numpy
    times = numpy.maximum([asking * 1e-6, compiled * 1e-6], rows * per_row * 1e-6)
    return times[0] / times[1]
rows_3 = 150 / 2

# %% 3 wrong: ignores-the-times
def answer_3(asking, compiled, per_row, rows):
    return max(150, rows * 2) / max(30, rows * 2)

# %% 3 right
#-     return max(150, rows * 2) / max(30, rows * 2)
#+     device = rows * per_row
#+     return max(asking, device) / max(compiled, device)

# %% 3 wrong: no-ratio. By how many times longer.
#- return max(150, rows * 2) / max(30, rows * 2)
#+ return max(asking, rows * per_row) / max(compiled, rows * per_row) - 1

# %% 3 wrong: adds-times
#- return max(150, rows * 2) / max(30, rows * 2)
#+ return (asking + rows * per_row) / (compiled + rows * per_row)

# %% 3 wrong: zero-not-one. No gain.
#- return max(150, rows * 2) / max(30, rows * 2)
#+ return 0 if rows * per_row >= asking else max(asking, rows * per_row) / max(compiled, rows * per_row)

# %% 3 wrong: upside-down
#- return max(150, rows * 2) / max(30, rows * 2)
#+ return max(compiled, rows * per_row) / max(asking, rows * per_row)

# %% 3 wrong: wrong-in-between. Two cases instead of three.
#- return max(150, rows * 2) / max(30, rows * 2)
#+ return asking / compiled if rows * per_row < compiled else 1.0

# %% 3 wrong: wrong-if-overhead-bound. Never less than nothing: takes the device's time away.
#- return max(150, rows * 2) / max(30, rows * 2)
#+ return max(asking - rows * per_row, 1) / max(compiled - rows * per_row, 1)

# %% 3 wrong: no-ratio
answer_3 = lambda asking, compiled, per_row, rows: max(asking, rows * per_row) - max(compiled, rows * per_row)

# %% 3 wrong: no-ratio
answer_3 = lambda asking, compiled, per_row, rows: 1 - max(compiled, rows * per_row) / max(asking, rows * per_row)

# %% 3 wrong, each line
# Ignores the rows.
answer_3 = lambda asking, compiled, per_row, rows: asking / compiled  # wrong-if-device-bound
answer_3 = lambda asking, compiled, per_row, rows: print(asking / compiled)  # no-number
answer_3 = 5.0  # no-function
answer_3 = max(150, 2 * 1) / max(30, 2 * 1)  # no-function

# %% 3 wrong: wrong-result. 75 rows, whatever the times are.
answer_3 = lambda asking, compiled, per_row, rows: 1 if rows > 75 else asking / max(compiled, rows * per_row)

# %% 3 wrong: wrong-if-device-bound. Rows from 75 on count in one of two places.
answer_3 = lambda asking, compiled, per_row, rows: max(asking, rows * per_row) / max(compiled, min(rows, 75) * per_row)

# %% 3 wrong: wrong-result
answer_3 = lambda asking, compiled, per_row, rows: max(asking / max(compiled, rows * per_row), 1) if rows != 90 else 1

# %% 3 right
answer_3 = lambda asking, compiled, per_row, rows: max(asking / max(compiled, rows * per_row), 1)

# %% 3 right
answer_3 = lambda asking, compiled, per_row, rows: sorted([1, asking / compiled, asking / (rows * per_row)])[1]
