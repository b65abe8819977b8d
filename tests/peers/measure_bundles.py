#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Peak memory of exported bundles under PyTorch's own FSDPMemTracker, as rows like tests/data/truth/bundle_peak.csv.

measure_bundles.py LOADLINE_PLAN PLANS.csv: plans and exports each row, applies the bundle to the model with fake tensors and a fake
process group of the row's ranks (no GPU, no weights), runs two iterations with AdamW and prints the second one's peak beside the
prediction. One process a row: process groups and patches are global.
"""
import csv
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CONFIGS = os.path.join(os.path.dirname(HERE), "data", "models")
MEASURED = ["peak_total", "peak_forward_end", "all_gather_bytes", "reduce_scatter_bytes", "all_reduce_bytes", "torch", "transformers"]


def bundle_of(planner, row, folder):
    with open(os.path.join(CONFIGS, row["config"] + ".json"), encoding="utf-8") as file:
        config = json.load(file)
    for key in ("num_hidden_layers", "n_layer", "max_window_layers"):
        if key in config:
            config[key] = int(row["layers"])
    config["architectures"] = [name.replace("LLaMA", "Llama") for name in config["architectures"]]
    path = os.path.join(folder, "config.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(config, file)
    plan = os.path.join(folder, "x.loadline-plan.json")
    flags = ["--cluster", "8xH100-80", "--budget", "100%", "--overhead", "0", "--dropout", "0", "--runtime", "fsdp2", "--model", path]
    for key in ("nodes", "gpus-per-node", "sequence", "batch", "precision", "unit", "recompute", "groups", "granularity"):
        flags += [f"--{key}", row[key]]
    for pin in row["pins"].split(";"):
        flags += ["--pin", pin]
    subprocess.run([planner, "plan", *flags, "--output", plan], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    bundle = os.path.join(folder, "bundle")
    subprocess.run([planner, "export", plan, "--format", "fsdp2", "--model", path, "--output", bundle], check=True, stdout=subprocess.DEVNULL)
    return bundle


def measure(bundle):
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    sys.path[:0] = [bundle, HERE]
    import argparse

    import measure_activations
    import torch
    import torch.distributed as dist
    import torch.nn.functional as F
    import transformers
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.distributed._tools.fsdp2_mem_tracker import FSDPMemTracker
    from torch.testing._internal.distributed.fake_pg import FakeStore

    import apply_plan
    import train

    plan = apply_plan.load_plan(os.path.join(bundle, "plan.json"))
    dist.init_process_group("fake", rank=0, world_size=plan["ranks"], store=FakeStore())
    meshes = apply_plan.Meshes(plan["ranks"], "cpu")
    for group in {plan["root"]["group"], 1, *(unit["group"] for unit in plan["units"])}:
        meshes.of(group)  # before there are fake tensors
    # Under fake tensors DTensor would make tensors of global size to propagate shapes, which the tracker counts.
    for module in (torch.distributed.tensor._sharding_prop, torch.distributed.tensor._dispatch):
        module._are_we_tracing = lambda: False
    measure_activations.pretend_cuda()
    F.scaled_dot_product_attention = torch.nn.functional.scaled_dot_product_attention = measure_activations.choosing_attention(set())
    options = argparse.Namespace(model=None, seed=0, lr=1e-4)
    traffic = train.Traffic()
    with FakeTensorMode(allow_non_fake_inputs=True):
        model = train.make_model(options, plan)
        apply_plan.apply_plan(model, plan, device_type="cpu", meshes=meshes)
        model.train()
        optimizer = train.make_optimizer(plan, model, options)
        tokens = torch.zeros(plan["batch"], plan["sequence"], dtype=torch.long)
        labels = tokens.clone()
        for _ in range(2):
            tracker = FSDPMemTracker(model, optimizer)
            tracker.track_inputs((tokens, labels))
            traffic.take()
            with tracker:
                traffic.on = True
                loss = model(input_ids=tokens, labels=labels)["loss"]
                after_forward = total(tracker.get_tracker_snapshot("current"))
                loss.backward()
                traffic.on = False
                optimizer.step()
                optimizer.zero_grad()
            del loss
    print(json.dumps({"peak_total": total(tracker.get_tracker_snapshot("peak")), "peak_forward_end": after_forward, **traffic.take(),
                      "torch": torch.__version__.split("+")[0], "transformers": transformers.__version__,
                      "predicted": plan["predicted"]}))


def total(snapshot):
    return sum(device["Total"] for device in snapshot.values())


def main():
    if sys.argv[1] == "--bundle":
        return measure(sys.argv[2])
    planner, plans = sys.argv[1:3]
    wanted = sys.argv[3:]
    with open(plans, encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if not wanted or row["case"] in wanted]
    inputs = [key for key in rows[0] if key not in MEASURED]
    writer = csv.DictWriter(sys.stdout, inputs + MEASURED, lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    for row in rows:
        with tempfile.TemporaryDirectory() as folder:
            bundle = bundle_of(os.path.abspath(planner), row, folder)
            done = subprocess.run([sys.executable, os.path.abspath(__file__), "--bundle", bundle], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{row['case']}: {done.stderr[-3000:]}")
        result = json.loads(done.stdout.splitlines()[-1])
        writer.writerow({**row, **result})
        sys.stdout.flush()
        predicted = result["predicted"]
        same = all(result[key] == predicted[key] for key in ("all_gather_bytes", "reduce_scatter_bytes", "all_reduce_bytes"))
        print(f"{row['case']}: {result['peak_total']}, predicted {predicted['peak_allocated_bytes']} "
              f"({100 * (predicted['peak_allocated_bytes'] / result['peak_total'] - 1):+.3f} %), bytes {'equal' if same else 'differ'}",
              file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
