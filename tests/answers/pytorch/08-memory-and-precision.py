# %% 1 right. Moment by moment; a block's own input counts once; tensors; the rows are solved for.
def answer_1(parameters, width, layers, vocabulary, tokens, recompute):
    begins = 3 * parameters + tokens * (2 * width + 3 * vocabulary)
    if recompute:
        begins = begins + tokens * width * layers
        first = 3 * parameters + tokens * width * (layers + 20)
        last = 4 * parameters + tokens * width * 20
    else:
        first = begins = begins + tokens * width * layers * 16
        last = 4 * parameters
    return torch.tensor([4.0 * begins, 4.0 * first, 4.0 * last]).max()

rows_1 = [torch.tensor((80e9 - 12 * 1.5e9) // (4 * 1024 * (16 * 1600 * 48 + 3200 + 1536))), 139.0]

# %% 1 given
def answer_1(parameters, width, layers, vocabulary, tokens, recompute):
    def kept(blocks):
        return 4 * tokens * (blocks * width + 2 * width + 3 * vocabulary)
    def inside(blocks):
        return 4 * tokens * blocks * width
    whole = 16 * layers

# %% 1 wrong, each line
# The rule of thumb alone.
    return 16 * parameters  # forward-end-wrong
# The two moments, between which the reader chooses.
    return 12 * parameters + kept(layers if recompute else whole), 16 * parameters  # no-number
# Forgets the optimizer's state.
    return max(4 * parameters + kept(layers + 16 if recompute else whole), 8 * parameters)  # forward-end-wrong
# Half of the state.
    return max(8 * parameters + kept(layers + 16 if recompute else whole), 12 * parameters)  # forward-end-wrong
# The forward pass's end alone.
    return 12 * parameters + kept(layers + 16 if recompute else whole)  # few-tokens-wrong
    return max(3 * parameters + kept(layers + 16 if recompute else whole) / 4, 4 * parameters)  # numbers-not-bytes
    return max(12 * parameters + kept(whole), 16 * parameters)  # ignores-recompute
# The square root of the number of blocks.
    return max(12 * parameters + kept(16 * layers ** 0.5 if recompute else whole), 16 * parameters)  # checkpoints-wrong
    return max(12 * parameters + kept(layers if recompute else whole), 16 * parameters)  # lacks-recomputed-block
# Of the tokens only those of one row.
    return max(12 * parameters + kept(whole) / tokens, 16 * parameters)  # forward-end-wrong
# One vocabulary more, not two.
    return max(12 * parameters + kept(layers if recompute else whole) - 4 * tokens * vocabulary, 12 * parameters + inside(layers + 20) * recompute, 16 * parameters + inside(20) * recompute)  # wrong-result
# The last layers' are counted while the first block is recomputed, too.
    return max(12 * parameters + kept(layers + 20 if recompute else whole), 16 * parameters + inside(20) * recompute)  # checkpoints-wrong

# %% 1 wrong: lacks-last-block. The first tooth alone.
    return max(12 * parameters + kept(layers if recompute else whole), 12 * parameters + inside(layers + 20) * recompute, 16 * parameters)

rows_1 = 12, 139

# %% 1 wrong: wrong-result. With checkpoints, the beginning of the backward pass is forgotten.
    if recompute:
        return max(12 * parameters + inside(layers + 20), 16 * parameters + inside(20))
    return max(12 * parameters + kept(whole), 16 * parameters)

rows_1 = 12, 139

# %% 1 wrong: all-at-once
    return 16 * parameters + kept(layers + 16 if recompute else whole)

rows_1 = 11, 129

# %% 1 wrong: lacks-own-gradients. A block is whole, with nothing that the backward pass makes.
    if recompute:
        return max(12 * parameters + inside(layers + 16), 16 * parameters + inside(16))
    return max(12 * parameters + kept(whole), 16 * parameters)

rows_1 = 12, 146

# %% 1 wrong: backward-begins. What the forward pass keeps, and no more.
    least = 4 * tokens * ((layers if recompute else whole) * width + 2 * width + vocabulary)
    return max(12 * parameters + least, 16 * parameters) + recompute * inside(16)

rows_1 = 12, 142

# %% 1 wrong: endless
    while parameters > 0:
        tokens += 1

# %% 1 given
def answer_1(parameters, width, layers, vocabulary, tokens, recompute):
    first = (layers + 20) * width if recompute else 0
    begins = (layers if recompute else 16 * layers) * width + 2 * width + 3 * vocabulary
    return max(12 * parameters + 4 * tokens * max(begins, first), 16 * parameters + 80 * tokens * width * recompute)

# %% 1 wrong: no-rows. The function alone.

# %% 1 right, each line
rows_1 = 12, 139

# %% 1 wrong, each line
rows_1 = 12.28, 139.2  # rows-not-whole
# Rounds up.
rows_1 = 13, 140  # too-many-rows
# With 16 bytes per parameter.
rows_1 = 11, 128  # too-few-rows
rows_1 = {"without": 12, "with": 139}  # rows-with-names
rows_1 = [139]  # no-two-numbers
answer_1 = 32.9e9  # no-function

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

# %% 2 wrong: gradient-vanishes. Scales after the backward pass.
def answer_2(loss, optimizer, scale):
    loss.backward()
    finite = all(each.grad.isfinite().all() for each in optimizer.param_groups[0]["params"] if each.grad is not None)
    if finite:
        optimizer.step()
    optimizer.zero_grad()
    return scale if finite else scale / 2

# %% 2 wrong: endless. Tries until the gradients are finite, with a scale that never changes.
def answer_2(loss, optimizer, scale):
    while True:
        (loss * scale).backward(retain_graph=True)

# %% 2 wrong, each line
# Looks at the loss, and does nothing else.
answer_2 = lambda loss, optimizer, scale: scale if (loss * scale).isfinite() else scale / 2  # no-step
answer_2 = torch.amp.GradScaler("cpu")  # no-function

# %% 2 given
def answer_2(loss, optimizer, scale):
    (loss * scale).backward()
    parameters = [each for group in optimizer.param_groups for each in group["params"]]
    gradients = [each.grad for each in parameters if each.grad is not None]

# %% 2 right
    finite = all(each.isfinite().all() for each in gradients)
    if finite:
        for each in gradients:
            each /= scale
        optimizer.step()
    optimizer.zero_grad()
    return scale if finite else scale / 2

# %% 2 wrong: still-scaled
#-         for each in gradients:
#-             each /= scale
#-         optimizer.step()
#+         optimizer.step()

# %% 2 wrong: steps-though-infinite. Replaces what is not finite, and steps: momentum moves the parameters.
#-     if finite:
#-         for each in gradients:
#-             each /= scale
#-         optimizer.step()
#+     for each in gradients:
#+         each.copy_(torch.nan_to_num(each / scale, nan=0, posinf=0, neginf=0))
#+     optimizer.step()

# %% 2 wrong: infinite-parameters. The last parameter decides alone.
#- finite = all(each.isfinite().all() for each in gradients)
#+ finite = gradients[-1].isfinite().all()

# %% 2 wrong: infinite-parameters. The first parameter decides alone.
#- finite = all(each.isfinite().all() for each in gradients)
#+ finite = gradients[0].isfinite().all()

# %% 2 wrong: wrong-result. One number decides for each gradient.
#- finite = all(each.isfinite().all() for each in gradients)
#+ finite = all(each.flatten()[0].isfinite() for each in gradients)

# %% 2 wrong: wrong-result. Positive infinities alone.
#- finite = all(each.isfinite().all() for each in gradients)
#+ finite = all((each < float("inf")).all() for each in gradients)

# %% 2 wrong: first-group-alone
#- finite = all(each.isfinite().all() for each in gradients)
#+ finite = all(each.grad.isfinite().all() for each in optimizer.param_groups[0]["params"] if each.grad is not None)

# %% 2 wrong: wrong-result. The gradients of one group are divided.
#-         for each in gradients:
#-             each /= scale
#+         for each in optimizer.param_groups[0]["params"]:
#+             each.grad /= scale

# %% 2 wrong: wrong-result. Clips, which was not asked for.
#-         optimizer.step()
#+         torch.nn.utils.clip_grad_norm_(parameters, 1.0)
#+         optimizer.step()

# %% 2 wrong: wrong-result. Knows one scale only.
#-         for each in gradients:
#-             each /= scale
#+         for each in gradients:
#+             each /= 2.0**16

# %% 2 wrong: wrong-result. Forgets the momentum when it skips.
#-     optimizer.zero_grad()
#+     optimizer.zero_grad()
#+     if not finite:
#+         optimizer.state.clear()

# %% 2 wrong: wrong-result. Changes a setting for good.
#-     optimizer.zero_grad()
#+     optimizer.zero_grad()
#+     optimizer.param_groups[1]["weight_decay"] = 10.0

# %% 2 wrong: wrong-result. Never below a certain scale.
#-     return scale if finite else scale / 2
#+     return scale if finite else max(scale / 2, 256)

# %% 2 wrong: wrong-result. Never below 1.
#-     return scale if finite else scale / 2
#+     return scale if finite else max(scale / 2, 1.0)

# %% 2 wrong: wrong-result. Half of a whole number.
#-     return scale if finite else scale / 2
#+     return scale if finite else scale // 2

# %% 2 wrong: infinite-parameters. One finite gradient in a parameter is not enough.
#- finite = all(each.isfinite().all() for each in gradients)
#+ finite = all(each.isfinite().any() for each in gradients)

# %% 2 wrong: nan-parameters. Looks for infinity alone.
#- finite = all(each.isfinite().all() for each in gradients)
#+ finite = not any(each.isinf().any() for each in gradients)

# %% 2 wrong: steps-though-nan. What is not a number counts as zero.
#- finite = all(each.isfinite().all() for each in gradients)
#+ finite = not any(each.isinf().any() for each in gradients)
#-             each /= scale
#+             each.div_(scale).nan_to_num_(nan=0.0)

# %% 2 wrong: nan-scale-not-halved. Half of the scale for infinity alone.
#- return scale if finite else scale / 2
#+ return scale / 2 if any(each.isinf().any() for each in gradients) else scale

# %% 2 wrong: scale-changes. Halves always.
#- return scale if finite else scale / 2
#+ return scale / 2

# %% 2 wrong: scale-not-halved
#- return scale if finite else scale / 2
#+ return scale

# %% 2 wrong: gradient-left
#-     optimizer.zero_grad()
#+     if not finite:
#+         optimizer.zero_grad()

# %% 2 wrong: skipped-gradient-left
#-     optimizer.zero_grad()
#+         optimizer.zero_grad()

# %% 2 right. Multiplies all at once; a tensor as the scale.
#-         for each in gradients:
#-             each /= scale
#+         torch._foreach_mul_(gradients, 1 / scale)
#-     return scale if finite else scale / 2
#+     return torch.as_tensor(scale if finite else scale / 2)

# %% 2 right. The norm is computed for its error alone.
#- finite = all(each.isfinite().all() for each in gradients)
#+ try:
#+         torch.nn.utils.get_total_norm(gradients, error_if_nonfinite=True)
#+         finite = True
#+     except RuntimeError:
#+         finite = False

# %% 2 wrong: returns-nothing
    for each in gradients:
        each /= scale
    optimizer.step()
    optimizer.zero_grad()

# %% 2 wrong: infinite-parameters. Never skips.
#-     optimizer.zero_grad()
#+     optimizer.zero_grad()
#+     return scale

# %% 2 right. The gradients are asked for, not left.
def answer_2(loss, optimizer, scale):
    every = [each for group in optimizer.param_groups for each in group["params"]]
    gradients = torch.autograd.grad(loss * scale, every, allow_unused=True)
    finite = all(each is None or torch.isfinite(each).all() for each in gradients)
    if finite:
        for parameter, gradient in zip(every, gradients):
            parameter.grad = None if gradient is None else gradient / scale
        optimizer.step()
        optimizer.zero_grad()
    return scale / (1 if finite else 2)

# %% 2 wrong: changes-loss. The caller's loss is multiplied, and will be logged.
def answer_2(loss, optimizer, scale):
    with torch.no_grad():
        loss *= scale
    loss.backward(torch.tensor(float(scale)))
    gradients = [each.grad for group in optimizer.param_groups for each in group["params"] if each.grad is not None]
    finite = all(each.isfinite().all() for each in gradients)
    if finite:
        for each in gradients:
            each /= scale
        optimizer.step()
    optimizer.zero_grad()
    return scale if finite else scale / 2

# %% 2 wrong: changes-loss
#-     with torch.no_grad():
#-         loss *= scale
#-     loss.backward(torch.tensor(float(scale)))
#+     loss *= scale
#+     loss.backward()

# %% 2 wrong: uses-scaler
def answer_2(loss, optimizer, scale):
    scaler = torch.amp.GradScaler("cpu", init_scale=scale)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad()
    return scaler.get_scale()

# %% 2 right. In double precision, after a copy of the gradients; NaN and infinity are found by a difference.
def answer_2(loss, optimizer, scale):
    optimizer.zero_grad()
    torch.autograd.backward([loss], [torch.tensor(scale, dtype=loss.dtype)])
    with torch.no_grad():
        every = [each for group in optimizer.param_groups for each in group["params"] if each.grad is not None]
        broken = sum(int((each.grad - each.grad != 0).sum()) for each in every)
        if not broken:
            for each in every:
                each.grad.copy_(each.grad.double() / scale)
            optimizer.step()
        for each in every:
            each.grad = None
    return scale if broken == 0 else 0.5 * scale

# %% 2 wrong: scale-changes. Doubles after a good step.
#- return scale if broken == 0 else 0.5 * scale
#+ return 2 * scale if broken == 0 else 0.5 * scale

# %% 2 wrong: no-step. Skips the good ones.
#- if not broken:
#+ if broken:

# %% 2 wrong: infinite-parameters. Allows one.
#- if not broken:
#+ if broken <= 1:

# %% 2 wrong: other-gradients. The root.
#- each.grad.double() / scale
#+ each.grad.double() / scale**0.5

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

# %% 3 wrong: losses-missing. The last loss alone.
#- losses.append(loss.item())
#+ losses = [loss.item()]

# %% 3 right. No graph in the first place; tensors, as before.
#-         losses.append(loss.item())
#-         tests.append(loss_of(net, x[2:4], y[2:4]).item())
#-         if tests[-1] <= min(tests):
#-             best = to_vector(net.parameters()).detach()
#+         losses.append(loss)
#+         with torch.inference_mode():
#+             tests.append(loss_of(net, x[2:4], y[2:4]))
#+             if tests[-1] <= min(tests):
#+                 best = to_vector(net.parameters())

# %% 3 right. Detached.
#-     losses = []
#-     tests = []
#+     losses, tests = torch.zeros(steps), torch.zeros(steps)
#-         losses.append(loss.item())
#-         tests.append(loss_of(net, x[2:4], y[2:4]).item())
#-         if tests[-1] <= min(tests):
#-             best = to_vector(net.parameters()).detach()
#+         losses[number] = loss.detach()
#+         tests[number] = loss_of(net, x[2:4], y[2:4]).detach()
#+         if tests[number] <= tests[:number + 1].min():
#+             best = to_vector(net.parameters())

# %% 3 right. The modes are set, as for a network with dropout; the best is kept as a clone.
#-     for number in range(steps):
#+     for number in range(steps):
#+         net.train()
#-         tests.append(loss_of(net, x[2:4], y[2:4]).item())
#-         if tests[-1] <= min(tests):
#-             best = to_vector(net.parameters()).detach()
#+         net.eval()
#+         with torch.no_grad():
#+             tests.append(float(loss_of(net, x[2:4], y[2:4])))
#+         if tests[-1] <= min(tests):
#+             best = to_vector(net.parameters()).detach().clone()

# %% 3 right. The best so far as a number.
#-     tests = []
#+     tests = []
#+     lowest = float("inf")
#-         if tests[-1] <= min(tests):
#-             best = to_vector(net.parameters()).detach()
#+         if tests[-1] < lowest:
#+             lowest = tests[-1]
#+             best = torch.cat([each.detach().flatten() for each in net.parameters()])

# %% 3 wrong: other-best. Better than the one before.
#-         if tests[-1] <= min(tests):
#+         if len(tests) < 2 or tests[-1] <= tests[-2]:

# %% 3 wrong: other-best. The first parameters, for ever.
#-         if tests[-1] <= min(tests):
#+         if number == 0:

# %% 3 wrong: other-best. The worst.
#-         if tests[-1] <= min(tests):
#+         if tests[-1] >= max(tests):

# %% 3 wrong: other-best. By the losses of the training.
#-         if tests[-1] <= min(tests):
#+         if losses[-1] <= min(losses):

# %% 3 wrong: memory-elsewhere. NumPy keeps the parameters of each step.
#-     tests = []
#+     tests = []
#+     kept = []
#-         if tests[-1] <= min(tests):
#-             best = to_vector(net.parameters()).detach()
#-     return losses, tests, best
#+         kept.append(to_vector(net.parameters()).detach().numpy().copy())
#+     return losses, tests, torch.as_tensor(kept[tests.index(min(tests))])

# %% 3 wrong: memory-elsewhere. Python does.
#-     tests = []
#+     tests = []
#+     kept = []
#-         if tests[-1] <= min(tests):
#-             best = to_vector(net.parameters()).detach()
#-     return losses, tests, best
#+         kept.append(to_vector(net.parameters()).tolist())
#+     return losses, tests, torch.tensor(kept[tests.index(min(tests))], dtype=net.scores.weight.dtype)

# %% 3 wrong: memory-elsewhere. As bytes.
#-     tests = []
#+     tests = []
#+     import io
#+     kept = []
#-         if tests[-1] <= min(tests):
#-             best = to_vector(net.parameters()).detach()
#-     return losses, tests, best
#+         kept.append(io.BytesIO())
#+         torch.save(to_vector(net.parameters()).detach(), kept[-1])
#+     kept[tests.index(min(tests))].seek(0)
#+     return losses, tests, torch.load(kept[tests.index(min(tests))])

# %% 3 wrong: peak-grows. A list of all parameters.
#-     tests = []
#+     tests = []
#+     kept = []
#-         if tests[-1] <= min(tests):
#-             best = to_vector(net.parameters()).detach()
#-     return losses, tests, best
#+         kept.append(to_vector(net.parameters()).detach())
#+     return losses, tests, kept[tests.index(min(tests))]

# %% 3 wrong: changes-result. The trained network is overwritten.
#-     return losses, tests, best
#+     nn.utils.vector_to_parameters(best, net.parameters())
#+     return losses, tests, best

# %% 3 wrong: wrong-effect. The caller's network cannot be trained again.
#-     return losses, tests, best
#+     net.requires_grad_(False)
#+     return losses, tests, best

# %% 3 wrong: other-tests. Tests on the rows of the training.
#-         tests.append(loss_of(net, x[2:4], y[2:4]).item())
#-         if tests[-1] <= min(tests):
#-             best = to_vector(net.parameters()).detach()
#+         tests.append(loss.item())
#+         best = to_vector(net.parameters()).detach()

# %% 3 wrong: memory-grows. eval() turns off dropout, not the graph; collecting garbage frees nothing that a list holds.
#- def answer_3(net, steps):
#+ def answer_3(net, steps):
#+     import gc
#-     for number in range(steps):
#+     for number in range(steps):
#+         net.train()
#-         tests.append(loss_of(net, x[2:4], y[2:4]).item())
#+         net.eval()
#+         tests.append(loss_of(net, x[2:4], y[2:4]))
#+         gc.collect()

# %% 3 wrong: other-losses. A backward pass of the test loss frees its activations, and trains on the test.
#-         losses.append(loss.item())
#-         tests.append(loss_of(net, x[2:4], y[2:4]).item())
#-         if tests[-1] <= min(tests):
#-             best = to_vector(net.parameters()).detach()
#+         losses.append(loss)
#+         test = loss_of(net, x[2:4], y[2:4])
#+         test.backward()
#+         tests.append(test)
#+         if test <= min(tests):
#+             best = to_vector(net.parameters())

# %% 3 wrong: tests-missing. Tests at the end only.
#-         tests.append(loss_of(net, x[2:4], y[2:4]).item())
#-         if tests[-1] <= min(tests):
#-             best = to_vector(net.parameters()).detach()
#-     return losses, tests, best
#+     with torch.no_grad():
#+         return losses, [loss_of(net, x[2:4], y[2:4])], to_vector(net.parameters())

# %% 3 wrong: other-best
#-         if tests[-1] <= min(tests):
#-             best = to_vector(net.parameters()).detach()
#-     return losses, tests, best
#+     return losses, tests, to_vector(net.parameters()).detach()

# %% 3 wrong: peak-grows. The graphs of all tests, and the first parameters.
def answer_3(net, steps):
    start = to_vector(net.parameters()).detach()
    losses, tests, _ = fit(net, steps)
    return [loss.item() for loss in losses], [test.item() for test in tests], start

# %% 3 wrong, each line
answer_3 = fit  # memory-grows
# No graph at all.
answer_3 = torch.no_grad()(fit)  # no-three-things
answer_3 = lambda net, steps: [loss.item() for loss in fit(net, steps)[0]]  # no-three-things
answer_3 = "tests.append(test)"  # no-function

# %% 3 given
def answer_3(net, steps):
    losses, tests, best = fit(net, steps)

# %% 3 wrong, each line
# The graphs of all tests are kept until the end.
    return [each.item() for each in losses], [each.item() for each in tests], best  # peak-grows
# The wrong list.
    return [loss.item() for loss in losses], tests, best  # memory-grows
    return losses, tests, net.state_dict()  # no-vector
