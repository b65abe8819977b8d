#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Predicted against measured step time of 30 plans on this machine: profiles the model and the links, makes plans of every kind,
trains each, and prints one line a plan, then the median and worst error and the rank correlation of predicted and measured order.

    measure_plans.py BIN [--ranks 2] [--model gpt-tour] [--steps 12] [--keep FOLDER]

BIN: a folder with loadline-plan and loadline-device. Needs no GPU. The machine should be quiet: other load shows as error."""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

FORMS = [  # name, what loadline-plan is told
    ("replicated", ["--pin", "*=dp", "--recompute", "off"]),
    ("sharded", ["--pin", "*=zdp", "--recompute", "off"]),
    ("mlp sharded", ["--pin", "*.mlp.*=zdp", "--recompute", "off"]),
    ("sharded, recomputed", ["--pin", "*=zdp", "--recompute", "all"]),
    ("replicated, recomputed", ["--pin", "*=dp", "--recompute", "all"]),
    ("searched", ["--recompute", "auto"]),
]
SHAPES = [(1, 64), (2, 64), (1, 128), (2, 128), (4, 128)]


def call(command, text=None, check=True):
    done = subprocess.run([str(part) for part in command], input=text, capture_output=True, text=True)
    if check and done.returncode != 0:
        sys.exit(f"{command[0]}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def rows(text):
    return [line for line in text.splitlines() if line and '"event":' not in line and '"loadline-device"' not in line]


def cluster_of(device, ranks):
    machine = next(json.loads(line) for line in device.splitlines() if '"kind":"cpu"' in line)
    link = {"latency_seconds": 1e-4, "bytes_per_second": 1e9, "source": "round figures; what is measured stands in their place"}
    return {
        "format": "loadline.cluster/1", "name": "this machine", "nodes": 1, "gpus_per_node": ranks, "hierarchical": False,
        "device": {"name": machine["name"], "memory": machine["memory"] // ranks, "fp32_flops_per_second": 2e10,
                   "half_flops_per_second": 2e10, "memory_bytes_per_second": 1e10, "flops_efficiency": 0.5,
                   "memory_efficiency": 0.5, "overhead": 0, "source": "round figures"},
        "intra": link, "inter": link,
    }


def ranked(values):
    order = sorted(range(len(values)), key=lambda i: values[i])
    ranks = [0.0] * len(values)
    for rank, index in enumerate(order):
        ranks[index] = rank
    return ranks


def correlation(a, b):
    a, b = ranked(a), ranked(b)
    return statistics.correlation(a, b)


def measured_seconds(run):
    """The median step, the first two left out: caches and threads are cold then."""
    steps = {}
    for line in run.splitlines():
        record = json.loads(line)
        if record.get("event") == "step" and record["step"] >= 2:
            steps.setdefault(record["step"], []).append(record["seconds"])
    return statistics.median(max(of) for of in steps.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bin", type=pathlib.Path)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--model", default="gpt-tour")
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_args()
    folder = options.keep or pathlib.Path(tempfile.mkdtemp(prefix="loadline-plans."))
    folder.mkdir(parents=True, exist_ok=True)
    planner, device = options.bin / "loadline-plan", options.bin / "loadline-device"

    cluster = folder / "machine.loadline-cluster.json"
    cluster.write_text(json.dumps(cluster_of(call([device, "describe"]), options.ranks)))
    profile = folder / "measured.loadline-profile.jsonl"
    if not profile.exists():
        links = call([device, "links"], json.dumps({"ranks": options.ranks, "least": 1024, "most": 8388608, "seconds": 40}))
        model = json.loads(call([planner, "inspect", "--model", options.model, "--json"]))
        operators = call([device, "profile"], json.dumps(
            {"model": model, "ranks": options.ranks, "batches": sorted({b for b, _ in SHAPES}),
             "sequences": sorted({s for _, s in SHAPES}), "granularities": [1, 2], "seconds": 150}))
        profile.write_text("\n".join(rows(operators) + [line for line in rows(links) if '"format"' not in line]) + "\n")

    results = []
    for batch, sequence in SHAPES:
        peaks = []
        for name, told in FORMS:
            plan = folder / f"{name.replace(' ', '-').replace(',', '')}-{batch}x{sequence}.loadline-plan.json"
            budget = sum(sorted(peaks)[:: len(peaks) - 1]) // 2 if name == "searched" else "2GiB"  # halfway: a mixed plan
            call([planner, "plan", "--model", options.model, "--cluster", cluster, "--profile", profile, "--budget", budget,
                  "--batch", batch, "--sequence", sequence, "--precision", "fp32", "--attention", "flash", "--granularity", "1,2",
                  "--time", "overlap", "--output", plan, *told])
            document = json.loads(plan.read_text())
            predicted = document["time"]["overlapped_seconds"]
            peaks.append(document["memory"]["peak_bytes"])
            run = call([device, "train"], json.dumps({"plan": document, "steps": options.steps, "timeout_seconds": 120}))
            plan.with_suffix(".run.jsonl").write_text(run)
            measured = measured_seconds(run)
            results.append((predicted, measured))
            print(f"{name:24} {batch} x {sequence:4}  predicted {1e3 * predicted:8.2f} ms  measured {1e3 * measured:8.2f} ms"
                  f"  {100 * (predicted / measured - 1):+6.1f} %", flush=True)
    errors = sorted(abs(predicted / measured - 1) for predicted, measured in results)
    print(f"{len(results)} plans: median error {100 * statistics.median(errors):.1f} %, worst {100 * errors[-1]:.1f} %, rank correlation "
          f"{correlation([p for p, _ in results], [m for _, m in results]):.3f}")


if __name__ == "__main__":
    main()
