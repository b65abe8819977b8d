#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Starts train.py on this node:   ./run.sh --steps 10 --output run.jsonl
# On more than one node, on each: NODE_RANK=0 HEAD=first.host ./run.sh ...   (NODE_RANK=1 on the second, and so on)
# NODES and PER_NODE are the plan's; GPUs, or processes on a machine without.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
nodes=${NODES:-@NODES@}
per_node=${PER_NODE:-@PER_NODE@}
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1}
export PYTORCH_ALLOC_CONF=${PYTORCH_ALLOC_CONF:-expandable_segments:True} # less lost between blocks of different sizes
launch=("${PYTHON:-python3}" -m torch.distributed.run --nproc-per-node "$per_node")
if ((nodes == 1)); then
    exec "${launch[@]}" --standalone "$here/train.py" "$@"
fi
exec "${launch[@]}" --nnodes "$nodes" --node-rank "${NODE_RANK:?the number of this node, 0 to nodes - 1}" --rdzv-id "${JOB_ID:-loadline}" \
    --rdzv-backend c10d --rdzv-endpoint "${HEAD:?host name of node 0}:${PORT:-29400}" "$here/train.py" "$@"
