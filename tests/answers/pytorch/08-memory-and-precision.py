# %% 1 right
def answer_1(parameters, width, layers, vocabulary, tokens, recompute):
    block = 64 * tokens * width
    kept = 4 * tokens * ((layers if recompute else 16 * layers) * width + 2 * width + vocabulary)
    return max(12 * parameters + kept, 16 * parameters) + recompute * block

rows_1 = 12, 142

# %% 1 right
# Moment by moment; a block's own input counts once; tensors; the rows are solved for.
def answer_1(parameters, width, layers, vocabulary, tokens, recompute):
    outside = tokens * (2 * width + vocabulary)
    if recompute:
        first = 3 * parameters + outside + tokens * width * (layers + 15)
        last = 4 * parameters + tokens * width * 16
    else:
        first = 3 * parameters + outside + tokens * width * layers * 16
        last = 4 * parameters
    return torch.maximum(torch.tensor(4.0 * first), torch.tensor(4.0 * last))

rows_1 = [torch.tensor((80e9 - 12 * 1.5e9) // (4 * 1024 * (16 * 1600 * 48 + 3200 + 512))), 142.0]

# %% 1 wrong: while the last block
# The first tooth alone.
def answer_1(parameters, width, layers, vocabulary, tokens, recompute):
    blocks = (layers + 16) * width if recompute else 16 * layers * width
    activations = 4 * tokens * (blocks + 2 * width + vocabulary)
    return max(12 * parameters + activations, 16 * parameters)

rows_1 = 12, 142

# %% 1 wrong: all gradients and all activations at one moment
def answer_1(parameters, width, layers, vocabulary, tokens, recompute):
    blocks = (layers + 16) * width if recompute else 16 * layers * width
    return 16 * parameters + 4 * tokens * (blocks + 2 * width + vocabulary)

rows_1 = 11, 129

# %% 1 wrong: numbers, not bytes
def answer_1(parameters, width, layers, vocabulary, tokens, recompute):
    blocks = (layers + 16) * width if recompute else 16 * layers * width
    return max(3 * parameters + tokens * (blocks + 2 * width + vocabulary), 4 * parameters)

# %% 1 wrong: where the forward pass ends
# The rule of thumb alone.
def answer_1(parameters, width, layers, vocabulary, tokens, recompute):
    return 16 * parameters

# %% 1 wrong: where the forward pass ends
# Forgets the optimizer's state.
def answer_1(parameters, width, layers, vocabulary, tokens, recompute):
    blocks = (layers + 16) * width if recompute else 16 * layers * width
    return max(4 * parameters + 4 * tokens * (blocks + 2 * width + vocabulary), 8 * parameters)

# %% 1 wrong: with very few tokens
# The forward pass's end alone.
def answer_1(parameters, width, layers, vocabulary, tokens, recompute):
    blocks = (layers + 16) * width if recompute else 16 * layers * width
    return 12 * parameters + 4 * tokens * (blocks + 2 * width + vocabulary)

# %% 1 wrong: one block is whole
def answer_1(parameters, width, layers, vocabulary, tokens, recompute):
    blocks = layers * width if recompute else 16 * layers * width
    return max(12 * parameters + 4 * tokens * (blocks + 2 * width + vocabulary), 16 * parameters)

# %% 1 wrong: ignores `recompute`
def answer_1(parameters, width, layers, vocabulary, tokens, recompute):
    return max(12 * parameters + 4 * tokens * (16 * layers * width + 2 * width + vocabulary), 16 * parameters)

# %% 1 wrong: how much is kept of each block
# The square root of the number of blocks.
def answer_1(parameters, width, layers, vocabulary, tokens, recompute):
    blocks = 16 * width * (layers ** 0.5 if recompute else layers)
    return max(12 * parameters + 4 * tokens * (blocks + 2 * width + vocabulary), 16 * parameters)

# %% 1 wrong: a function
answer_1 = 32.9e9

# %% 1 wrong: Now the two numbers
def answer_1(parameters, width, layers, vocabulary, tokens, recompute):
    block = 64 * tokens * width
    kept = 4 * tokens * ((layers if recompute else 16 * layers) * width + 2 * width + vocabulary)
    return max(12 * parameters + kept, 16 * parameters) + recompute * block

# %% 1 wrong: the GPU is too small
# Rounds up.
def answer_1(parameters, width, layers, vocabulary, tokens, recompute):
    block = 64 * tokens * width
    kept = 4 * tokens * ((layers if recompute else 16 * layers) * width + 2 * width + vocabulary)
    return max(12 * parameters + kept, 16 * parameters) + recompute * block

rows_1 = 13, 143

# %% 1 wrong: more rows fit
# With 16 bytes per parameter.
def answer_1(parameters, width, layers, vocabulary, tokens, recompute):
    block = 64 * tokens * width
    kept = 4 * tokens * ((layers if recompute else 16 * layers) * width + 2 * width + vocabulary)
    return max(12 * parameters + kept, 16 * parameters) + recompute * block

rows_1 = 11, 128

# %% 1 wrong: is whole
def answer_1(parameters, width, layers, vocabulary, tokens, recompute):
    block = 64 * tokens * width
    kept = 4 * tokens * ((layers if recompute else 16 * layers) * width + 2 * width + vocabulary)
    return max(12 * parameters + kept, 16 * parameters) + recompute * block

rows_1 = 12.28, 142.65

# %% 1 wrong: still running
def answer_1(parameters, width, layers, vocabulary, tokens, recompute):
    while parameters > 0:
        tokens += 1

# %% 1 wrong: after the last block
# The table alone: 16 w for each block.
def answer_1(parameters, width, layers, vocabulary, tokens, recompute):
    kept = 4 * tokens * width * (layers if recompute else 16 * layers)
    again = 64 * tokens * width if recompute else 0
    return max(12 * parameters + kept, 16 * parameters) + again

# %% 2 right
def answer_2(loss, optimizer, scale):
    (loss * scale).backward()
    gradients = [each.grad for each in optimizer.param_groups[0]["params"] if each.grad is not None]
    finite = all(each.isfinite().all() for each in gradients)
    if finite:
        for each in gradients:
            each /= scale
        optimizer.step()
    optimizer.zero_grad()
    return scale if finite else scale / 2

# %% 2 right
# The gradient of backward is the scale; the gradients' sum tells whether all are finite; zeros are left, a tensor returned.
def answer_2(loss, optimizer, scale):
    loss.backward(torch.tensor(float(scale)))
    total = 0.0
    for group in optimizer.param_groups:
        for each in group["params"]:
            if each.grad is not None:
                each.grad = each.grad.double().div(scale).float()
                total = total + (each.grad * 0).sum()
    if total == 0:
        optimizer.step()
    else:
        scale = scale * 0.5
    optimizer.zero_grad(set_to_none=False)
    return torch.as_tensor(scale)

# %% 2 wrong: has become zero
# Scales after the backward pass.
def answer_2(loss, optimizer, scale):
    loss.backward()
    finite = all(each.grad.isfinite().all() for each in optimizer.param_groups[0]["params"] if each.grad is not None)
    if finite:
        optimizer.step()
    optimizer.zero_grad()
    return scale if finite else scale / 2

# %% 2 wrong: of the scaled loss
def answer_2(loss, optimizer, scale):
    (loss * scale).backward()
    finite = all(each.grad.isfinite().all() for each in optimizer.param_groups[0]["params"] if each.grad is not None)
    if finite:
        optimizer.step()
    optimizer.zero_grad()
    return scale if finite else scale / 2

# %% 2 wrong: now the parameters are
# Never skips.
def answer_2(loss, optimizer, scale):
    (loss * scale).backward()
    for each in optimizer.param_groups[0]["params"]:
        if each.grad is not None:
            each.grad /= scale
    optimizer.step()
    optimizer.zero_grad()
    return scale

# %% 2 wrong: state have changed
# Replaces what is not finite, and steps: momentum moves the parameters.
def answer_2(loss, optimizer, scale):
    (loss * scale).backward()
    finite = True
    for each in optimizer.param_groups[0]["params"]:
        if each.grad is not None:
            finite = finite and bool(each.grad.isfinite().all())
            each.grad = torch.nan_to_num(each.grad / scale, nan=0, posinf=0, neginf=0)
    optimizer.step()
    optimizer.zero_grad()
    return scale if finite else scale / 2

# %% 2 wrong: a gradient was not a number
# Looks for infinity alone.
def answer_2(loss, optimizer, scale):
    (loss * scale).backward()
    gradients = [each.grad for each in optimizer.param_groups[0]["params"] if each.grad is not None]
    infinite = any(each.isinf().any() for each in gradients)
    if not infinite:
        for each in gradients:
            each /= scale
        optimizer.step()
    optimizer.zero_grad()
    return scale / 2 if infinite else scale

# %% 2 wrong: now the parameters are
# One finite gradient in a parameter is not enough.
def answer_2(loss, optimizer, scale):
    (loss * scale).backward()
    parameters = [each for each in optimizer.param_groups[0]["params"] if each.grad is not None]
    finite = all(each.grad.isfinite().any() for each in parameters)
    if finite:
        for each in parameters:
            each.grad /= scale
        optimizer.step()
    optimizer.zero_grad()
    return scale if finite else scale / 2

# %% 2 wrong: now the parameters are
# The last parameter decides alone.
def answer_2(loss, optimizer, scale):
    (loss * scale).backward()
    for each in optimizer.param_groups[0]["params"]:
        if each.grad is not None:
            finite = each.grad.isfinite().all()
            each.grad /= scale
    if finite:
        optimizer.step()
    optimizer.zero_grad()
    return scale if finite else scale / 2

# %% 2 wrong: now the parameters are
# The first parameter decides alone.
def answer_2(loss, optimizer, scale):
    (loss * scale).backward()
    parameters = [each for each in optimizer.param_groups[0]["params"] if each.grad is not None]
    finite = parameters[0].grad.isfinite().all()
    if finite:
        for each in parameters:
            each.grad /= scale
        optimizer.step()
    optimizer.zero_grad()
    return scale if finite else scale / 2

# %% 2 wrong: half of the scale comes next
def answer_2(loss, optimizer, scale):
    (loss * scale).backward()
    gradients = [each.grad for each in optimizer.param_groups[0]["params"] if each.grad is not None]
    if all(each.isfinite().all() for each in gradients):
        for each in gradients:
            each /= scale
        optimizer.step()
    optimizer.zero_grad()
    return scale

# %% 2 wrong: the scale stays as it is
# Halves always.
def answer_2(loss, optimizer, scale):
    (loss * scale).backward()
    gradients = [each.grad for each in optimizer.param_groups[0]["params"] if each.grad is not None]
    if all(each.isfinite().all() for each in gradients):
        for each in gradients:
            each /= scale
        optimizer.step()
    optimizer.zero_grad()
    return scale / 2

# %% 2 wrong: after a skipped step a gradient is left
def answer_2(loss, optimizer, scale):
    (loss * scale).backward()
    gradients = [each.grad for each in optimizer.param_groups[0]["params"] if each.grad is not None]
    if not all(each.isfinite().all() for each in gradients):
        return scale / 2
    for each in gradients:
        each /= scale
    optimizer.step()
    optimizer.zero_grad()
    return scale

# %% 2 wrong: after a good step a gradient is left
def answer_2(loss, optimizer, scale):
    (loss * scale).backward()
    gradients = [each.grad for each in optimizer.param_groups[0]["params"] if each.grad is not None]
    if not all(each.isfinite().all() for each in gradients):
        optimizer.zero_grad()
        return scale / 2
    for each in gradients:
        each /= scale
    optimizer.step()
    return scale

# %% 2 wrong: returns nothing
def answer_2(loss, optimizer, scale):
    (loss * scale).backward()
    for each in optimizer.param_groups[0]["params"]:
        if each.grad is not None:
            each.grad /= scale
    optimizer.step()
    optimizer.zero_grad()

# %% 2 wrong: made no step
# Looks at the loss, and does nothing else.
def answer_2(loss, optimizer, scale):
    return scale if (loss * scale).isfinite() else scale / 2

# %% 2 wrong: a function
answer_2 = torch.amp.GradScaler("cpu")

# %% 2 wrong: still running
# Tries until the gradients are finite, with a scale that never changes.
def answer_2(loss, optimizer, scale):
    while True:
        (loss * scale).backward(retain_graph=True)

# %% 3 right
def answer_3(net, steps):
    optimizer = torch.optim.AdamW(net.parameters())
    losses = []
    tests = []
    for number in range(steps):
        loss = loss_of(net, x[:2], y[:2])
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
        tests.append(loss_of(net, x[2:4], y[2:4]).item())
        if tests[-1] <= min(tests):
            best = to_vector(net.parameters()).detach()
    return losses, tests, best

# %% 3 right
# No graph in the first place; tensors, as before.
def answer_3(net, steps):
    optimizer = torch.optim.AdamW(net.parameters())
    losses = []
    tests = []
    for number in range(steps):
        loss = loss_of(net, x[:2], y[:2])
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss)
        with torch.inference_mode():
            tests.append(loss_of(net, x[2:4], y[2:4]))
            if tests[-1] <= min(tests):
                best = to_vector(net.parameters())
    return losses, tests, best

# %% 3 right
# Detached.
def answer_3(net, steps):
    optimizer = torch.optim.AdamW(net.parameters())
    losses, tests = torch.zeros(steps), torch.zeros(steps)
    for number in range(steps):
        loss = loss_of(net, x[:2], y[:2])
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses[number] = loss.detach()
        tests[number] = loss_of(net, x[2:4], y[2:4]).detach()
        if tests[number] <= tests[:number + 1].min():
            best = to_vector(net.parameters())
    return losses, tests, best

# %% 3 wrong: more bytes stay alive
answer_3 = fit

# %% 3 wrong: more bytes stay alive
# The wrong list.
def answer_3(net, steps):
    losses, tests, best = fit(net, steps)
    return [loss.item() for loss in losses], tests, best

# %% 3 wrong: more bytes stay alive
# eval() turns off dropout, not the graph; collecting garbage frees nothing that a list holds.
def answer_3(net, steps):
    import gc
    optimizer = torch.optim.AdamW(net.parameters())
    losses, tests = [], []
    for number in range(steps):
        net.train()
        loss = loss_of(net, x[:2], y[:2])
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
        net.eval()
        tests.append(loss_of(net, x[2:4], y[2:4]))
        gc.collect()
        if tests[-1] <= min(tests):
            best = to_vector(net.parameters()).detach()
    return losses, tests, best

# %% 3 wrong: while it trains
# The graphs of all tests are kept until the end.
def answer_3(net, steps):
    losses, tests, best = fit(net, steps)
    return [each.item() for each in losses], [each.item() for each in tests], best

# %% 3 wrong: one vector
def answer_3(net, steps):
    losses, tests, _ = fit(net, steps)
    return losses, tests, net.state_dict()

# %% 3 wrong: the losses are not those
# A backward pass of the test loss frees its activations, and trains on the test.
def answer_3(net, steps):
    optimizer = torch.optim.AdamW(net.parameters())
    losses, tests = [], []
    for number in range(steps):
        loss = loss_of(net, x[:2], y[:2])
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss)
        test = loss_of(net, x[2:4], y[2:4])
        test.backward()
        tests.append(test)
        if test <= min(tests):
            best = to_vector(net.parameters())
    return losses, tests, best

# %% 3 wrong: one test for each step
# Tests at the end only.
def answer_3(net, steps):
    optimizer = torch.optim.AdamW(net.parameters())
    losses = []
    for number in range(steps):
        loss = loss_of(net, x[:2], y[:2])
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    with torch.no_grad():
        return losses, [loss_of(net, x[2:4], y[2:4])], to_vector(net.parameters())

# %% 3 wrong: not always the last
def answer_3(net, steps):
    optimizer = torch.optim.AdamW(net.parameters())
    losses, tests = [], []
    for number in range(steps):
        loss = loss_of(net, x[:2], y[:2])
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
        with torch.no_grad():
            tests.append(loss_of(net, x[2:4], y[2:4]).item())
    return losses, tests, to_vector(net.parameters()).detach()

# %% 3 wrong: does not require grad
# No graph at all.
def answer_3(net, steps):
    with torch.no_grad():
        return fit(net, steps)

# %% 3 wrong: three things
def answer_3(net, steps):
    return [loss.item() for loss in fit(net, steps)[0]]

# %% 3 wrong: the tests are not those
# Tests on the rows of the training.
def answer_3(net, steps):
    optimizer = torch.optim.AdamW(net.parameters())
    losses, tests = [], []
    for number in range(steps):
        loss = loss_of(net, x[:2], y[:2])
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
        tests.append(loss.item())
        best = to_vector(net.parameters()).detach()
    return losses, tests, best

# %% 3 wrong: best parameters
# The first parameters, which are not copied.
def answer_3(net, steps):
    start = to_vector(net.parameters()).detach()
    losses, tests, _ = fit(net, steps)
    return [loss.item() for loss in losses], [test.item() for test in tests], start

# %% 3 wrong: a function
answer_3 = "tests.append(test)"
