# SPDX-License-Identifier: GPL-3.0-or-later
"""Trains a model under plan.json on random or text data and prints JSON lines: one for the run, one for each rank and step.

    torchrun --nproc-per-node 8 train.py --steps 10 --output run.jsonl      # or ./run.sh, or sbatch job.sbatch
    python train.py --reference --steps 10                               # the same data on one process, nothing sharded

`loadline-plan import-run` reads the lines and sets them beside the prediction.
"""
import argparse
import importlib
import json
import os
import sys
import time

import torch
import torch.distributed as dist

from apply_plan import DTYPES, PlanError, apply_plan, clip_grad_norm, load_plan, micro_step

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    options = read_options()
    plan = load_plan(options.plan)
    run = Run(options, plan)
    try:
        train(run, options, plan)
    except PlanError as problem:
        sys.exit(f"train.py: {problem}")
    finally:
        run.close()


def read_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plan", default=os.path.join(HERE, "plan.json"))
    parser.add_argument("--model", help="Hugging Face name, folder or config.json, or MODULE:FUNCTION that makes a model; "
                                        "default: config.json beside this file")
    parser.add_argument("--data", help="a text file, read as bytes; default: random tokens")
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--lr", type=float, default=1e-4)
    parser.add_argument("--clip", type=float, default=1.0, help="gradient norm; 0: no clipping")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", help="also write the lines to this file")
    parser.add_argument("--save", help="folder for a checkpoint after the last step")
    parser.add_argument("--load", help="folder of a checkpoint to start from, saved under any plan")
    parser.add_argument("--device", choices=["cpu", "cuda"], help="default: cuda if there is one")
    parser.add_argument("--backend", help="default: nccl on cuda, gloo on cpu")
    parser.add_argument("--reference", action="store_true", help="one process stands for all ranks; the plan is not applied")
    return parser.parse_args()


class Run:
    """Process group, device and the log."""

    def __init__(self, options, plan):
        self.rank, self.ranks = 0, plan["ranks"]
        kind = options.device or ("cuda" if torch.cuda.is_available() else "cpu")
        self.device = torch.device(kind, int(os.environ.get("LOCAL_RANK", 0)) if kind == "cuda" else None)
        if kind == "cuda":
            torch.cuda.set_device(self.device)
        if not options.reference and "RANK" in os.environ:
            dist.init_process_group(options.backend or ("nccl" if kind == "cuda" else "gloo"))
            self.rank = dist.get_rank()
        self.file = open(options.output, "w", encoding="utf-8") if options.output and self.rank == 0 else None

    def say(self, **line):
        text = json.dumps(line, allow_nan=False)
        print(text, flush=True)
        if self.file:
            self.file.write(text + "\n")
            self.file.flush()

    def gather(self, value):
        """Every rank's value on rank 0."""
        if not dist.is_initialized():
            return [value]
        everyone = [None] * dist.get_world_size() if self.rank == 0 else None
        dist.gather_object(value, everyone)
        return everyone

    def close(self):
        if self.file:
            self.file.close()
        if dist.is_initialized():
            dist.destroy_process_group()


class Traffic:
    """Counts the bytes of the arrays that FSDP2's collectives work on: outputs of gathers, inputs of reductions."""

    def __init__(self):
        self.bytes = dict.fromkeys(("all_gather_bytes", "reduce_scatter_bytes", "all_reduce_bytes"), 0)
        self.on = False
        self.wrap("all_gather_into_tensor", "all_gather_bytes", "output_tensor", 0)
        self.wrap("reduce_scatter_tensor", "reduce_scatter_bytes", "input", 1)
        self.wrap("all_reduce", "all_reduce_bytes", "tensor", 0)

    def wrap(self, function, key, argument, position):
        inner = getattr(dist, function)

        def counted(*args, **kwargs):
            if self.on:
                tensor = kwargs[argument] if argument in kwargs else (args + tuple(kwargs.values()))[position]
                self.bytes[key] += tensor.numel() * tensor.element_size()
            return inner(*args, **kwargs)

        setattr(dist, function, counted)

    def take(self):
        taken = dict(self.bytes)
        for key in self.bytes:
            self.bytes[key] = 0
        return taken


def make_model(options, plan):
    """Equal weights on every rank: made on the CPU from the seed, then moved to the device unit by unit."""
    torch.manual_seed(options.seed)
    source = options.model or (os.path.join(HERE, "config.json") if plan["model"]["config"] else None)
    if source is None:
        raise PlanError("The bundle has no config.json; give --model NAME, FOLDER, or MODULE:FUNCTION.")
    if ":" in source and not os.path.exists(source):
        module, _, function = source.partition(":")
        sys.path.insert(0, os.getcwd())
        return getattr(importlib.import_module(module), function)()
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    import transformers

    if source.endswith(".json"):
        with open(source, encoding="utf-8") as file:
            values = json.load(file)
        config = transformers.AutoConfig.for_model(**values) if "model_type" in values else transformers.AutoConfig.from_pretrained(source)
    else:
        config = transformers.AutoConfig.from_pretrained(source)
    if plan["dropout"] is not None:
        for key in list(config.to_dict()):
            if "drop" in key and isinstance(getattr(config, key), (int, float)) and not isinstance(getattr(config, key), bool):
                setattr(config, key, plan["dropout"])
    config.use_cache = False
    maker = getattr(transformers, (getattr(config, "architectures", None) or [""])[0], None)
    attention = {"eager": "eager"}.get(plan["attention"], "sdpa")
    pretrained = os.path.isdir(source) or not source.endswith(".json")
    if pretrained:
        return transformers.AutoModelForCausalLM.from_pretrained(source, config=config, dtype=torch.float32, attn_implementation=attention)
    auto = transformers.AutoModelForCausalLM if type(config) in transformers.AutoModelForCausalLM._model_mapping else None
    make = maker._from_config if maker else auto.from_config
    return make(config, dtype=torch.float32, attn_implementation=attention)


def make_optimizer(plan, model, options):
    name = plan["optimizer"]
    if name == "adamw":
        return torch.optim.AdamW(model.parameters(), lr=options.lr, foreach=True)
    if name in ("sgd", "sgd-momentum"):
        return torch.optim.SGD(model.parameters(), lr=options.lr, momentum=0.9 if name == "sgd-momentum" else 0, foreach=True)
    raise PlanError(f"PyTorch has no optimizer {name} for sharded parameters; put yours into make_optimizer.")


class Data:
    """Tokens of (step, micro-step, rank): the same for every plan, so that losses can be compared."""

    def __init__(self, options, plan, vocabulary):
        self.shape = (plan["batch"], plan["sequence"])
        self.seed, self.vocabulary, self.text = options.seed, vocabulary, None
        if options.data:
            with open(options.data, "rb") as file:
                self.text = torch.tensor(list(file.read(64 << 20)), dtype=torch.int64) % vocabulary
            if len(self.text) <= plan["sequence"]:
                raise PlanError(f"{options.data} has {len(self.text)} bytes, and one sequence needs more than {plan['sequence']}.")

    def tokens(self, step, micro, rank):
        generator = torch.Generator().manual_seed((((self.seed * 1000003 + step) * 4099 + micro) * 65537 + rank) % (1 << 62))
        if self.text is None:
            return torch.randint(self.vocabulary, self.shape, generator=generator)
        starts = torch.randint(len(self.text) - self.shape[1], (self.shape[0],), generator=generator)
        return torch.stack([self.text[start:start + self.shape[1]] for start in starts])


def loss_of(model, tokens, plan):
    with torch.autocast(tokens.device.type, torch.bfloat16, enabled=plan["precision"]["autocast"]):
        output = model(input_ids=tokens, labels=tokens)
    return output["loss"] if isinstance(output, dict) else output


def train(run, options, plan):
    model = make_model(options, plan)
    vocabulary = model.get_input_embeddings().num_embeddings if hasattr(model, "get_input_embeddings") else model.vocabulary
    data = Data(options, plan, vocabulary)
    if options.reference:
        model.to(run.device, DTYPES[plan["precision"]["weight"]])
        standing_for = range(run.ranks)
    else:
        apply_plan(model, plan, device_type=run.device.type)
        model.to(run.device)
        standing_for = [run.rank]
    model.train()
    optimizer = make_optimizer(plan, model, options)
    if options.load:
        from checkpoint import load_checkpoint
        load_checkpoint(model, optimizer, options.load)
    traffic = Traffic()
    devices = run.gather(describe(run.device))
    if run.rank == 0:
        run.say(**{"loadline-run": 1}, ranks=run.ranks, reference=options.reference, devices=devices, versions=versions(),
                model=plan["model"]["name"], batch=plan["batch"], accumulation=plan["accumulation"], sequence=plan["sequence"])
    for step in range(1, options.steps + 1):
        report = one_step(run, options, plan, model, optimizer, data, traffic, step, standing_for)
        everyone = run.gather(report)
        if run.rank == 0:
            loss = sum(entry["rank_loss"] for entry in everyone) / len(everyone)
            for rank, entry in enumerate(everyone):
                run.say(step=step, rank=rank, loss=loss, **entry)
    if options.save:
        from checkpoint import save_checkpoint
        save_checkpoint(model, optimizer, options.save)
    if run.rank == 0:
        run.say(done=True, steps=options.steps)


def one_step(run, options, plan, model, optimizer, data, traffic, step, standing_for):
    cuda = run.device.type == "cuda"
    batches = [(micro, data.tokens(step, micro, rank).to(run.device)) for micro in range(plan["accumulation"]) for rank in standing_for]
    if dist.is_initialized():
        dist.barrier()
    if cuda:
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
    started = time.perf_counter()
    total = 0.0
    traffic.on = True
    for micro, tokens in batches:
        micro_step(model, last=micro + 1 == plan["accumulation"])
        loss = loss_of(model, tokens, plan) / len(batches)
        loss.backward()
        total += float(loss.detach())
    traffic.on = False
    if options.clip > 0:
        clip_grad_norm(model, options.clip)
    optimizer.step()
    optimizer.zero_grad()
    if cuda:
        torch.cuda.synchronize()
    entry = {"rank_loss": total, "seconds": time.perf_counter() - started, **traffic.take()}
    if cuda:  # on a CPU PyTorch does not say how much it has allocated
        entry["peak_allocated_bytes"] = torch.cuda.max_memory_allocated()
        entry["peak_reserved_bytes"] = torch.cuda.max_memory_reserved()
    return entry


def describe(device):
    return torch.cuda.get_device_name(device) if device.type == "cuda" else f"cpu ({os.cpu_count()} cores)"


def versions():
    known = {"python": sys.version.split()[0], "torch": torch.__version__, "cuda": torch.version.cuda}
    if "transformers" in sys.modules:
        known["transformers"] = sys.modules["transformers"].__version__
    if torch.cuda.is_available():
        known["nccl"] = ".".join(map(str, torch.cuda.nccl.version()))
    return known


if __name__ == "__main__":
    main()
    # All is written and the process group is gone. PyTorch's own threads may still run: if the interpreter takes its libraries down under
    # them, now and then one ends with "terminate called without an active exception".
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
