# %% 1 given
def buckets_of(net, size):
    buckets, held = [[]], 0
    for each in [each for each in net.parameters() if each.requires_grad][::-1]:
        if held >= size:
            buckets.append([])
            held = 0
        buckets[-1].append(each)
        held += each.nbytes
    return buckets

def pack(bucket):
    for each in bucket:
        if each.grad is None:
            each.grad = torch.zeros_like(each)
    return torch.cat([each.grad.flatten() for each in bucket])

def unpack(bucket, flat):
    for each, piece in zip(bucket, flat.split([each.numel() for each in bucket])):
        each.grad.copy_(piece.view_as(each))

# %% 1 right. Counts what is missing in each bucket, and keeps the number of the next one.
def answer_1(net, size):
    buckets = buckets_of(net, size)
    place = {each: number for number, bucket in enumerate(buckets) for each in bucket}
    missing = [len(bucket) for bucket in buckets]
    sent = []

    def send():
        flat = pack(buckets[len(sent)]) / dist.get_world_size()
        sent.append((flat, dist.all_reduce(flat, async_op=True)))

    def ready(parameter):
        missing[place[parameter]] -= 1
        while len(sent) < len(buckets) and missing[len(sent)] == 0:
            send()

    def finish():
        while len(sent) < len(buckets):
            send()
        for number, (flat, handle) in enumerate(sent):
            handle.wait()
            unpack(buckets[number], flat)
            missing[number] = len(buckets[number])
        sent.clear()

    for each in place:
        each.register_post_accumulate_grad_hook(ready)
    return finish

# %% 1 wrong: wrong-result. Each number has eight bytes, it believes.
#-     buckets = buckets_of(net, size)
#+     buckets = buckets_of(net, size * next(net.parameters()).element_size() / 8)

# %% 1 wrong: no-gradient. Without a gradient, that of the step before is sent once more.
#-     sent = []
#+     sent, old = [], {}
#-         flat = pack(buckets[len(sent)]) / dist.get_world_size()
#+         for each in buckets[len(sent)]:
#+             if each.grad is None and each in old:
#+                 each.grad = old[each]
#+         flat = pack(buckets[len(sent)]) / dist.get_world_size()
#+         old.update((each, each.grad.clone()) for each in buckets[len(sent)])

# %% 1 wrong: sum-not-mean
#- pack(buckets[len(sent)]) / dist.get_world_size()
#+ pack(buckets[len(sent)])

# %% 1 wrong: divided-twice
#- unpack(buckets[number], flat)
#+ unpack(buckets[number], flat / dist.get_world_size())

# %% 1 wrong: stands-still. Waits in the hook.
#- dist.all_reduce(flat, async_op=True)))
#+ dist.all_reduce(flat, async_op=True)))
#+         sent[-1][1].wait()

# %% 1 wrong: stands-still. At most one message is under way.
#-         sent.append
#+         if sent:
#+             sent[-1][1].wait()
#+         sent.append

# %% 1 wrong: no-wait. Nobody waits.
#-             handle.wait()
#+

# %% 1 wrong: no-wait. Waits for the last message alone, and after it has copied.
#-             handle.wait()
#+
#-         sent.clear()
#+         handle.wait()
#+         sent.clear()

# %% 1 wrong: own-gradients. What came back is not copied.
#-             unpack(buckets[number], flat)
#+

# %% 1 wrong: second-step
# The counters are not set back: from the second pass on they never meet zero, and finish forgets the gradients.
#-         sent.clear()
#+

# %% 1 wrong: second-order. The counters are not set back: in the second pass all leaves at the end.
#-             missing[number] = len(buckets[number])
#+

# %% 1 wrong: other-buckets. Collected from the first parameter on, then turned round.
#-     buckets = buckets_of(net, size)
#+     buckets, held = [[]], 0
#+     for each in net.parameters():
#+         if each.requires_grad:
#+             if held >= size:
#+                 buckets.append([])
#+                 held = 0
#+             buckets[-1].insert(0, each)
#+             held += each.nbytes
#+     buckets.reverse()

# %% 1 wrong: other-buckets. At most `size` bytes, not at least.
#-     buckets = buckets_of(net, size)
#+     buckets, held = [[]], 0
#+     for each in [each for each in net.parameters() if each.requires_grad][::-1]:
#+         if held and held + each.nbytes > size:
#+             buckets.append([])
#+             held = 0
#+         buckets[-1].append(each)
#+         held += each.nbytes

# %% 1 wrong: other-buckets. A full bucket takes one more.
#-     buckets = buckets_of(net, size)
#+     buckets = buckets_of(net, size + 1)

# %% 1 wrong: after-backward. Numbers, not bytes.
#-     buckets = buckets_of(net, size)
#+     buckets = buckets_of(net, 8 * size)

# %% 1 wrong: one-at-a-time. A gradient lets one bucket go, and not those behind it.
#-         while len(sent) < len(buckets) and missing[len(sent)] == 0:
#+         if len(sent) < len(buckets) and missing[len(sent)] == 0:

# %% 1 wrong: late-buckets. The last one leaves in finish.
#-         while len(sent) < len(buckets) and missing[len(sent)] == 0:
#+         while len(sent) < len(buckets) - 1 and missing[len(sent)] == 0:

# %% 1 wrong: after-backward. The right buckets, numbered from the first parameter.
#-     buckets = buckets_of(net, size)
#+     buckets = buckets_of(net, size)[::-1]

# %% 1 wrong: other-buckets. A bucket per parameter.
#-     buckets = buckets_of(net, size)
#+     buckets = buckets_of(net, 1)

# %% 1 wrong: after-backward. One bucket.
#-     buckets = buckets_of(net, size)
#+     buckets = buckets_of(net, 10**9)

# %% 1 wrong: after-backward. The hooks only count; finish sends.
#-         while len(sent) < len(buckets) and missing[len(sent)] == 0:
#-             send()
#+         pass

# %% 1 wrong: late-buckets. Only one bucket leaves in a hook, and only if it is not the second.
#-         while len(sent) < len(buckets) and missing[len(sent)] == 0:
#+         while len(sent) < 1 and missing[len(sent)] == 0:

# %% 1 wrong: other-order. A bucket leaves when it is full, whatever its number.
#-         sent.append((flat, dist.all_reduce(flat, async_op=True)))
#+         sent.append((flat, dist.all_reduce(flat, async_op=True)))
#+
#+     def send_this(number):
#+         flat = pack(buckets[number]) / dist.get_world_size()
#+         others[number] = flat, dist.all_reduce(flat, async_op=True)
#+
#+     others = {}
#-         while len(sent) < len(buckets) and missing[len(sent)] == 0:
#-             send()
#+         if missing[place[parameter]] == 0:
#+             send_this(place[parameter])
#-         while len(sent) < len(buckets):
#-             send()
#-         for number, (flat, handle) in enumerate(sent):
#+         for number in range(len(buckets)):
#+             if number not in others:
#+                 send_this(number)
#+         for number, (flat, handle) in others.items():
#-         sent.clear()
#+         others.clear()

# %% 1 wrong: rank-waits. What could not leave in the backward pass is forgotten.
#-         while len(sent) < len(buckets):
#-             send()
#+

# %% 1 wrong: wrong-result. Two ranks for ever.
#- pack(buckets[len(sent)]) / dist.get_world_size()
#+ pack(buckets[len(sent)]) / 2

# %% 1 wrong: no-gradient. What is not there is sent as ones.
#-     missing = [len(bucket) for bucket in buckets]
#+     missing = [len(bucket) for bucket in buckets]
#+
#+     def pack(bucket):
#+         for each in bucket:
#+             if each.grad is None:
#+                 each.grad = torch.ones_like(each)
#+         return torch.cat([each.grad.flatten() for each in bucket])

# %% 1 wrong: rank-raises. What is not there cannot be packed.
#-     missing = [len(bucket) for bucket in buckets]
#+     missing = [len(bucket) for bucket in buckets]
#+
#+     def pack(bucket):
#+         return torch.cat([each.grad.flatten() for each in bucket])

# %% 1 wrong: not-the-mean. The pieces are taken in the other order than they were packed.
#- unpack(buckets[number], flat)
#+ unpack(buckets[number][::-1], flat)

# %% 1 wrong: not-the-mean. Half the bytes, half the digits.
#- flat = pack(buckets[len(sent)]) / dist.get_world_size()
#+ flat = pack(buckets[len(sent)]).float().double() / dist.get_world_size()

# %% 1 wrong: rank-raises. A hook on a frozen parameter, too.
#-     for each in place:
#+     for each in net.parameters():

# %% 1 wrong: frozen-parameters. Frozen parameters are trained from now on.
#-     buckets = buckets_of(net, size)
#+     buckets = buckets_of(net, size)
#+     net.requires_grad_(True)

# %% 1 wrong: wrong-result. Gradients that were there before are gone.
#-     buckets = buckets_of(net, size)
#+     buckets = buckets_of(net, size)
#+     net.zero_grad()

# %% 1 wrong: changes-surroundings
#-     buckets = buckets_of(net, size)
#+     buckets = buckets_of(net, size)
#+     torch.manual_seed(0)

# %% 1 wrong: wrong-result. The network is left in evaluation.
#-     buckets = buckets_of(net, size)
#+     buckets = buckets_of(net.eval(), size)

# %% 1 wrong: not-the-mean. It also takes the step.
#-         sent.clear()
#+         sent.clear()
#+         net.zero_grad()

# %% 1 wrong: no-finish. Sends, and returns the network.
#-     return finish
#+     return net.parameters()

# %% 1 wrong: other-buckets. A message more.
#-         sent.clear()
#+         sent.clear()
#+         extra = torch.zeros(1)
#+         dist.all_reduce(extra)

# %% 1 right. Gradients are views of the buckets, and a set knows which are here.
def answer_1(net, size):
    buckets = buckets_of(net, size)
    here, work = set(), []

    def leave(bucket):
        work.append([bucket, pack(bucket), None])
        work[-1][2] = dist.all_reduce(work[-1][1], async_op=True)

    def hook(parameter):
        here.add(id(parameter))
        for bucket in buckets[len(work):]:
            if not all(id(each) in here for each in bucket):
                break
            leave(bucket)

    def finish():
        for bucket in buckets[len(work):]:
            leave(bucket)
        while work:
            bucket, flat, handle = work.pop(0)
            handle.wait()
            flat /= dist.get_world_size()
            begin = 0
            for each in bucket:
                each.grad = flat[begin:begin + each.numel()].view(each.shape)
                begin += each.numel()
        here.clear()

    for bucket in buckets:
        for each in bucket:
            each.register_post_accumulate_grad_hook(hook)
    return finish

# %% 1 wrong: second-step
# What was here in the first pass is taken for here in the second: buckets leave too early, with what is left.
#-         here.clear()
#+

# %% 1 right. A class; its instance can be called.
class Reducer:
    def __init__(self, net, size):
        self.buckets = [Bucket(each) for each in buckets_of(net, size)]
        self.next = 0
        for bucket in self.buckets:
            for each in bucket.parameters:
                each.register_post_accumulate_grad_hook(self.advance)

    def advance(self, parameter=None):
        for bucket in self.buckets:
            bucket.missing.discard(parameter)
        while self.next < len(self.buckets) and not self.buckets[self.next].missing:
            self.buckets[self.next].start()
            self.next += 1

    def __call__(self):
        for bucket in self.buckets:
            bucket.missing.clear()
        self.advance()
        for bucket in self.buckets:
            bucket.end()
        self.next = 0

class Bucket:
    def __init__(self, parameters):
        self.parameters = parameters
        self.missing = set(parameters)

    def start(self):
        self.flat = pack(self.parameters)
        self.future = dist.all_reduce(self.flat, async_op=True).get_future()

    def end(self):
        self.future.wait()
        unpack(self.parameters, self.flat / dist.get_world_size())
        self.missing = set(self.parameters)

def answer_1(net, size):
    return Reducer(net, size)

# %% 1 wrong: no-all-reduce. Gathers and adds up.
def answer_1(net, size):
    def finish():
        for bucket in buckets_of(net, size):
            own = pack(bucket)
            everyones = [torch.empty_like(own) for _ in range(dist.get_world_size())]
            dist.all_gather(everyones, own)
            unpack(bucket, sum(everyones) / len(everyones))
    return finish

# %% 1 wrong: after-backward. As in lesson 04.
def answer_1(net, size):
    def finish():
        for bucket in buckets_of(net, size):
            flat = pack(bucket)
            dist.all_reduce(flat)
            unpack(bucket, flat / dist.get_world_size())
    return finish

# %% 1 wrong: other-buckets. The lesson's class: a message per parameter.
def answer_1(net, size):
    for each in net.parameters():
        if not each.requires_grad:
            continue
        each.register_post_accumulate_grad_hook(lambda each: handles.append(dist.all_reduce(each.grad, async_op=True)))
    handles = []
    def finish():
        for handle in handles:
            handle.wait()
        handles.clear()
        for each in net.parameters():
            if each.grad is not None:
                each.grad /= dist.get_world_size()
    return finish

# %% 1 wrong: own-gradients. A hook of the gradient, not of the parameter: it runs before the gradient is there.
def answer_1(net, size):
    buckets = buckets_of(net, size)
    sent = []
    here = set()
    def hook_for(each):
        def hook(gradient):
            here.add(each)
            while len(sent) < len(buckets) and here.issuperset(buckets[len(sent)]):
                flat = pack(buckets[len(sent)]) / dist.get_world_size()
                sent.append((flat, dist.all_reduce(flat, async_op=True)))
        return hook
    for bucket in buckets:
        for each in bucket:
            each.register_hook(hook_for(each))
    def finish():
        for bucket, (flat, handle) in zip(buckets, sent):
            handle.wait()
        sent.clear()
        here.clear()
    return finish

# %% 1 wrong, each line
answer_1 = "overlapped"  # no-function
answer_1 = lambda net, size: None  # no-finish
answer_1 = lambda net, size: lambda: None  # no-all-reduce
answer_1 = lambda net, size: Overlapped(net).finish  # rank-raises
answer_1 = lambda net, size: DDP(net, bucket_cap_mb=size / 2**20)  # rank-raises

# %% 1 right. A hook of the tensor, which runs before the gradient is accumulated, and gets it.
def answer_1(net, size):
    buckets = buckets_of(net, size)
    fresh, sent = {}, []

    def send(bucket):
        for each in bucket:
            if each not in fresh:
                fresh[each] = torch.zeros_like(each) if each.grad is None else each.grad
        flat = torch.cat([fresh[each].flatten() for each in bucket])
        sent.append((bucket, flat, dist.all_reduce(flat, async_op=True)))

    def ready(gradient, parameter):
        fresh[parameter] = gradient if parameter.grad is None else parameter.grad + gradient
        while len(sent) < len(buckets) and fresh.keys() >= set(buckets[len(sent)]):
            send(buckets[len(sent)])

    def finish():
        for bucket in buckets[len(sent):]:
            send(bucket)
        for bucket, flat, handle in sent:
            handle.wait()
            for each, piece in zip(bucket, flat.split([each.numel() for each in bucket])):
                each.grad = piece.view_as(each) / dist.get_world_size()
        fresh.clear()
        sent.clear()

    for bucket in buckets:
        for each in bucket:
            each.register_hook(lambda gradient, each=each: ready(gradient, each))
    return finish
