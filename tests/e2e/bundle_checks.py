# SPDX-License-Identifier: GPL-3.0-or-later
"""bundle_checks.py FOLDER BUNDLE...: inside torchrun. Trains each bundle, then the same data unsharded, and compares."""
import argparse
import json
import os
import sys

FOLDER, NAMES = sys.argv[1], sys.argv[2:]
sys.path.insert(0, os.path.join(FOLDER, NAMES[0]))

import torch
import torch.distributed as dist

import train
from apply_plan import apply_plan, load_plan

TOLERANCE = 1e-4
STEPS = 4


class Quiet(train.Run):
    """A run inside a job that is there already; keeps its lines."""

    def __init__(self, plan):
        self.rank, self.ranks, self.device, self.file = dist.get_rank(), plan["ranks"], torch.device("cpu"), None
        self.lines = []

    def say(self, **line):
        self.lines.append(line)


class Alone(Quiet):
    """The reference: this process stands for all ranks."""

    def gather(self, value):
        return [value]


def options_of(name, **others):
    values = {"model": os.path.join(FOLDER, name, "config.json"), "data": os.path.join(FOLDER, "text"), "steps": STEPS, "lr": 1e-2,
              "clip": 1.0, "seed": 0, "save": None, "load": None, "reference": False}
    return argparse.Namespace(**{**values, **others})


def run(name, kind=Quiet, **others):
    plan = load_plan(os.path.join(FOLDER, name, "plan.json"))
    quiet = kind(plan)
    if kind is Alone:  # no collectives: the group must not be seen
        with hidden_group():
            train.train(quiet, options_of(name, reference=True, **others), plan)
    else:
        train.train(quiet, options_of(name, **others), plan)
    rows = [line for line in quiet.lines if "step" in line]
    return plan, [line["loss"] for line in rows if line["rank"] == 0], rows


class hidden_group:
    def __enter__(self):
        self.kept, dist.is_initialized = dist.is_initialized, lambda: False

    def __exit__(self, *_):
        dist.is_initialized = self.kept


class left_out:
    """Leaves out one all-reduce of every step, where it is made."""

    def __enter__(self):
        self.kept, calls = dist.all_reduce, [0]

        def all_reduce(tensor, *args, **kwargs):
            calls[0] += 1
            return None if calls[0] % 3 == 1 else self.kept(tensor, *args, **kwargs)

        dist.all_reduce = all_reduce

    def __exit__(self, *_):
        dist.all_reduce = self.kept


def say(words):
    if dist.get_rank() == 0:
        print(words, flush=True)


def fail(words):
    say(words)
    sys.exit(1)  # torchrun ends the others


def differ(a, b):
    return max(abs(x - y) for x, y in zip(a, b, strict=True))


def check_bytes(name, plan, rows):
    for row in rows:
        for key in ("all_gather_bytes", "reduce_scatter_bytes", "all_reduce_bytes"):
            if row[key] != plan["predicted"][key]:
                fail(f"{name}, step {row['step']}, rank {row['rank']}: {key} {row[key]}, predicted {plan['predicted'][key]}")


def check_losses():
    """Every bundle against its model unsharded. Only rank 0 has lines, so only it compares; all agree on the result."""
    unsharded = {}
    for name in NAMES:
        plan, losses, rows = run(name)
        if dist.get_rank() != 0:
            verdict = [None]
        else:
            key = (plan["model"]["name"], plan["accumulation"])
            if key not in unsharded:
                unsharded[key] = run(name, Alone)[1]
            verdict = [differ(losses, unsharded[key])]
            say(f"{name}: losses {losses[0]:.4f} to {losses[-1]:.4f}, {verdict[0]:.1e} from unsharded training")
        dist.broadcast_object_list(verdict)
        if verdict[0] > TOLERANCE:
            fail(f"{name}: losses differ by {verdict[0]} from unsharded training")
        check_bytes(name, plan, rows)
    return unsharded


def check_checkpoints():
    """Saved by run.sh under the plan gpt2; goes on the same under itself and under other groups and slices."""
    saved = os.path.join(FOLDER, "checkpoint")
    _, same, _ = run("gpt2", load=saved, steps=2)
    _, other, rows = run("gpt2-other", load=saved, steps=2)
    _, blocks, _ = run("parts", load=saved, steps=2)
    _, fresh, _ = run("gpt2", steps=2)
    verdict = [max(differ(same, other), differ(same, blocks)) if rows else None, differ(same, fresh) if rows else None]
    dist.broadcast_object_list(verdict)
    say(f"checkpoint: goes on under two other plans, {verdict[0]:.1e} from its own; a fresh start differs by {verdict[1]:.1e}")
    if verdict[0] > TOLERANCE or verdict[1] < 100 * TOLERANCE:
        fail("the checkpoint did not load the same under another plan")


def check_broken():
    """A bundle with one reduction left out must not pass the comparison that the others passed."""
    _, good, _ = run("gpt2")
    with left_out():
        _, bad, rows = run("gpt2")
    verdict = [differ(good, bad) if rows else None]
    dist.broadcast_object_list(verdict)
    say(f"broken: one all-reduce left out moves the losses by {verdict[0]:.1e}")
    if verdict[0] <= TOLERANCE:
        fail("one reduction was left out and the losses do not show it")


def main():
    dist.init_process_group("gloo")
    check_losses()
    check_checkpoints()
    check_broken()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
