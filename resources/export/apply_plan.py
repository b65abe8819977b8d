# SPDX-License-Identifier: GPL-3.0-or-later
"""Puts a Loadline plan on a PyTorch model: FSDP2 unit by unit. PyTorch 2.11; needs nothing but torch.

    from apply_plan import apply_plan, clip_grad_norm, micro_step
    model = apply_plan(model, "plan.json")          # after dist.init_process_group, before the optimizer is made
    for i, part in enumerate(parts):
        micro_step(model, last=i + 1 == len(parts))
        (loss(model, part) / len(parts)).backward()
    clip_grad_norm(model, 1.0)
    optimizer.step()

Units are found by the names of their parameters, so the model may come from Hugging Face or be your own.
"""
import json

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FSDPModule, MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import DTensor, Shard

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}


class PlanError(Exception):
    """The plan and the model, or the plan and the job, do not belong together."""


class SplitLinear(nn.Module):
    """A linear in slices of its input features, run one after another; the bias goes with the first.

    Each slice is a unit of its own, so only one has to be gathered at a time. `transposed` remembers that the original
    stored its weight as in x out (GPT-2's Conv1D); slices store out x in, as nn.Linear does.
    """

    def __init__(self, linear, slices):
        super().__init__()
        self.transposed = type(linear).__name__ == "Conv1D"
        weight = linear.weight.detach().t() if self.transposed else linear.weight.detach()
        features = weight.shape[1]
        self.sizes = [features // slices + (i < features % slices) for i in range(slices)]
        parts = []
        for i, columns in enumerate(weight.split(self.sizes, dim=1)):
            bias = linear.bias if i == 0 else None
            part = nn.Linear(columns.shape[1], columns.shape[0], bias=bias is not None, device="meta")
            part.weight = nn.Parameter(columns.clone(memory_format=torch.contiguous_format), requires_grad=linear.weight.requires_grad)
            if bias is not None:
                part.bias = nn.Parameter(bias.detach().clone(), requires_grad=bias.requires_grad)
            parts.append(part)
        self.slices = nn.ModuleList(parts)

    def forward(self, x):
        result = None
        for part, columns in zip(self.slices, x.split(self.sizes, dim=-1)):
            y = part(columns)
            result = y if result is None else result + y
        return result


class Meshes:
    """One device mesh for each shard group size. A second mesh of the same size would make new communicators."""

    def __init__(self, ranks, device_type):
        self.ranks, self.device_type, self.made = ranks, device_type, {}

    def of(self, group):
        if group not in self.made:
            if group == self.ranks:  # sharded over all: a mesh (1, N) would add an all-reduce over one rank
                self.made[group] = init_device_mesh(self.device_type, (group,), mesh_dim_names=("shard",))
            else:  # group 1 is plain data parallelism
                self.made[group] = init_device_mesh(self.device_type, (self.ranks // group, group),
                                                    mesh_dim_names=("replicate", "shard"))
        return self.made[group]


def load_plan(plan):
    """A plan as a dict, from a dict or the path of plan.json."""
    if not isinstance(plan, dict):
        with open(plan, encoding="utf-8") as file:
            plan = json.load(file)
    if plan.get("format") != "loadline.bundle/1":
        raise PlanError(f"This is a plan of format {plan.get('format')!r}; apply_plan reads loadline.bundle/1.")
    return plan


def apply_plan(model, plan, *, device_type=None, meshes=None):
    """Splits, checkpoints and shards `model` in place as `plan` (dict or path) says, and returns it.

    Every rank calls it with equal weights; the process group must exist. On one rank only splits and checkpoints apply.
    `meshes` (Meshes) may be shared between models of one job. Raises PlanError with one sentence.
    """
    plan = load_plan(plan)
    ranks = dist.get_world_size() if dist.is_initialized() else 1
    if ranks != plan["ranks"]:
        raise PlanError(f"The plan is for {plan['ranks']} ranks and this job has {ranks}; start {plan['ranks']}, or plan anew.")
    if plan["precision"]["weight"] != "fp32":
        model.to(DTYPES[plan["precision"]["weight"]])
    owners = check_names(model, plan)
    tied = tied_places(model)
    # Experts beyond as many ranks as there are experts. By identity: wrappers change names.
    across = {id(parameter) for name, parameter in model.named_parameters() if name in set(plan["dimension_1"])}

    covers = [cover(model, set(unit["parameters"]), owners) for unit in plan["units"]]
    for unit, modules in zip(plan["units"], covers):
        if unit["slices"] > 1:
            split = SplitLinear(modules[0][1], unit["slices"])
            replace(model, modules[0][0], split)
            modules[:] = [(f"{modules[0][0]}.slices.{i}", part) for i, part in enumerate(split.slices)]
    for name in plan["checkpointed"]:
        wrapped = checkpoint_wrapper(resolve(model, name))
        replace(model, name, wrapped)
        for modules in covers:  # a unit that is the whole layer is sharded as the wrapper
            modules[:] = [(path, wrapped if path == name else module) for path, module in modules]

    if ranks > 1:
        device_type = device_type or ("cuda" if torch.cuda.is_available() else "cpu")
        shard(model, plan, covers, meshes or Meshes(ranks, device_type), across)
    for places in tied:
        if len({id(getattr(module, name)) for module, name in places}) > 1:
            raise PlanError("Weights that were tied no longer are; keep all their modules in the root unit.")
    return model


def shard(model, plan, covers, meshes, across):
    """fully_shard for every unit, children before parents, and for the root last. `across`: ids of parameters cut along dimension 1."""
    kind = plan["precision"]
    mixed = MixedPrecisionPolicy()
    if kind["compute"] != kind["weight"] or kind["reduce"] != kind["compute"]:
        mixed = MixedPrecisionPolicy(param_dtype=DTYPES[kind["compute"]], reduce_dtype=DTYPES[kind["reduce"]])

    def placement(parameter):
        return Shard(1) if id(parameter) in across else None

    calls = []
    for unit, modules in zip(plan["units"], covers):
        if unit["slices"] > 1:
            for i, (path, part) in enumerate(modules):
                calls.append((path, [part], unit["group"] if i < unit["sharded_slices"] else 1, True))
        else:
            calls.append((modules[0][0], [module for _, module in modules], unit["group"], unit["reshard_after_forward"]))
    shared = {"mp_policy": mixed, "shard_placement_fn": placement}
    for _, modules, group, reshard in sorted(calls, key=lambda call: -call[0].count(".")):
        # On mesh (N, 1) resharding costs no communication, and frees the working copy that would stay until backward.
        fully_shard(modules[0] if len(modules) == 1 else modules, mesh=meshes.of(group),
                    reshard_after_forward=reshard or group == 1, **shared)
    fully_shard(model, mesh=meshes.of(plan["root"]["group"]), **shared)
    set_prefetch([modules[0] for _, modules, _, _ in calls], plan["prefetch"])


def set_prefetch(units, prefetch):
    """How many units are gathered ahead. FSDP2 by itself: none in forward, one in backward (in reverse order of forward)."""
    ahead, behind = prefetch["forward"], prefetch["backward"]
    for i, unit in enumerate(units):
        if ahead > 0:
            unit.set_modules_to_forward_prefetch(units[i + 1:i + 1 + ahead])
        if behind == 0:
            unit.set_modules_to_backward_prefetch([unit])  # an empty list would mean the default
        elif behind > 1:
            unit.set_modules_to_backward_prefetch(units[max(0, i - behind):i][::-1] or [unit])


def micro_step(model, last):
    """Before each backward of an accumulated step: gradients go into shards every time, across replicas only the last time."""
    if isinstance(model, FSDPModule):
        model.set_requires_all_reduce(last)
        model.set_is_last_backward(last)


def clip_grad_norm(model, most):
    """Like nn.utils.clip_grad_norm_, which fails where gradients live on several meshes: one norm a mesh, then the norm of norms."""
    by_mesh = {}
    for parameter in model.parameters():
        if parameter.grad is not None:
            mesh = parameter.grad.device_mesh if isinstance(parameter.grad, DTensor) else None
            by_mesh.setdefault(mesh, []).append(parameter)
    norms = []
    for parameters in by_mesh.values():
        norm = nn.utils.get_total_norm([p.grad for p in parameters])
        norms.append(norm.full_tensor() if isinstance(norm, DTensor) else norm)
    total = torch.linalg.vector_norm(torch.stack(norms))
    for parameters in by_mesh.values():
        nn.utils.clip_grads_with_norm_(parameters, most, total)
    return total


def tied_places(model):
    """For each parameter with several names, the (module, attribute) pairs that hold it."""
    places = {}
    for module in model.modules():
        for name, parameter in module.named_parameters(recurse=False, remove_duplicate=False):
            places.setdefault(id(parameter), []).append((module, name))
    return [pairs for pairs in places.values() if len(pairs) > 1]


def check_names(model, plan):
    """Every parameter of the model is planned once, and every planned one is there. Returns parameter name -> module name."""
    there = dict(model.named_parameters(remove_duplicate=False))
    planned = {name: unit["name"] for unit in plan["units"] for name in unit["parameters"]}
    planned.update({name: "root" for name in plan["root"]["parameters"]})
    for name, unit in planned.items():
        if name not in there:
            raise PlanError(f"The plan's unit {unit} has the parameter {name}, which this model lacks; give the model that was planned.")
    twins = {id(there[name]) for name in planned}
    for name, parameter in there.items():
        if id(parameter) not in twins:
            raise PlanError(f"The model's parameter {name} is not in the plan; give the model that was planned.")
    for name, shape in plan["shapes"].items():
        if list(there[name].shape) != shape:
            raise PlanError(f"{name} has shape {list(there[name].shape)} and was planned as {shape}; give the model that was planned.")
    return {name: name.rpartition(".")[0] for name in there if name in planned}


def cover(model, names, owners):
    """The fewest modules that hold just these parameters, as (path, module) in the model's order."""
    found = []

    def walk(path, module):
        below = {name for name in owners if path == "" or name.startswith(path + ".")}
        mine = below & names
        if not mine:
            return
        if below == mine and not isinstance(module, (nn.ModuleList, nn.ModuleDict)):
            found.append((path, module))
            return
        if any(owners[name] == path for name in mine):
            raise PlanError(f"{path} has parameters of its own in one unit and children in another; plan with another --unit.")
        for child, inner in module.named_children():
            walk(f"{path}.{child}" if path else child, inner)

    walk("", model)
    return found


def resolve(model, path):
    try:
        return model.get_submodule(path)
    except AttributeError:
        raise PlanError(f"The plan names the module {path}, which this model lacks; give the model that was planned.") from None


def replace(model, path, module):
    parent, _, child = path.rpartition(".")
    setattr(model.get_submodule(parent), child, module)
