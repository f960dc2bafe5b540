"""What trainers of both heads share: the shell of values with a second target, the policy of decisions."""

from __future__ import annotations

import math
from typing import Unpack, cast

import torch
from torch import Tensor

from raccoon.checks import number, quoted
from raccoon.contracts import RaccoonError
from raccoon.data.contract import Kind
from raccoon.data.label_sets.policy_rows import JointBatch, PolicyBatch
from raccoon.model.network import RaccoonNet
from raccoon.train.objectives.losses import raw_losses
from raccoon.train.objectives.policy_losses import policy_cross_entropy, policy_entropy, policy_hits
from raccoon.train.trainers.base import ValueTrainer, prepared
from raccoon.train.trainers.options import ValueOptions

__all__ = ["TRAINED", "JointTrainer"]

TRAINED = ("both", "policy")
_SUMS = ("n", "cross_entropy", "entropy", "choices", "hits")


class JointTrainer(ValueTrainer):
    """Trains ``net``, which must have a policy head, on ``JointBatch``es: the value head reads pre-roll boards without dice, the
    policy head a board with its dice.

    The loss is ``value_weight`` times that of ``ValueTrainer`` plus ``policy_weight`` times the cross-entropy of the half turns;
    0 leaves a head out, and as it is. ``train``: ``both``, or ``policy``, which freezes all but the policy head (the batch statistics of
    the trunk too), for a network that knows values already (``value_weight=0``). ``weight_decay``: AdamW's, of matrices and kernels
    alone. The other settings are ``ValueTrainer``'s. Without a value loss the epochs are judged by ``val/policy_ce``.

    Logs besides: ``train/policy_loss``, ``val/policy_ce`` (nats above the entropy of the targets), ``val/policy_top1`` (share of
    the decisions with several actions whose likeliest is the target's). Raises RaccoonError naming the key of a bad setting.
    """

    needs: Kind = "decisions"
    trained = "both"

    def __init__(
        self,
        net: RaccoonNet,
        *,
        policy_weight: float = 1.0,
        value_weight: float = 1.0,
        weight_decay: float = 0.0,
        train: str = "both",
        **options: Unpack[ValueOptions],
    ) -> None:
        if net.policy is None:
            raise RaccoonError("model.policy=false: this trainer needs a policy head; set model.policy=true")
        if train not in TRAINED:
            raise RaccoonError(f"trainer.train={quoted(train)}: choose one of {', '.join(TRAINED)}")
        number("trainer.policy_weight", policy_weight, "a number of 0 or more")
        number("trainer.value_weight", value_weight, "a number of 0 or more")
        number("trainer.weight_decay", weight_decay, "a number of 0 or more")
        if policy_weight == value_weight == 0:
            raise RaccoonError("trainer.policy_weight, trainer.value_weight: both are 0, so nothing would be learnt; raise one")
        if train == "policy" and (value_weight > 0 or policy_weight == 0):
            raise RaccoonError(
                "trainer.train=policy: freezes the value head; set trainer.value_weight=0 and a trainer.policy_weight above 0"
            )
        super().__init__(net, **options)
        self.policy_weight, self.value_weight = policy_weight, value_weight
        self.weight_decay, self.trained = weight_decay, train
        if value_weight == 0:
            self.monitor = "val/policy_ce"
            own = net.policy is not None and net.policy.reads_input
            for part in (
                net.neck,
                net.hidden,
                net.head,
                *([net.backbone] if own else []),
            ):  # no gradient would reach them, for which several processes would wait
                if part is not None:
                    cast(torch.nn.Module, part).requires_grad_(False)
        if train == "policy":
            self.net.requires_grad_(False)
        cast(torch.nn.Module, self.net.policy).requires_grad_(policy_weight > 0)
        self.train()  # Lightning keeps the modes that it finds
        self._policy_sums: Tensor = torch.zeros(len(_SUMS), dtype=torch.float64)

    def optimizer(self) -> torch.optim.Optimizer:
        """The chosen optimiser, or AdamW, over the weights that are trained; biases and batch normalisation do not decay."""
        trained = [parameter for parameter in self.net.parameters() if parameter.requires_grad]
        groups = [
            {"params": [parameter for parameter in trained if parameter.ndim > 1], "weight_decay": self.weight_decay},
            {"params": [parameter for parameter in trained if parameter.ndim <= 1], "weight_decay": 0.0},
        ]
        return self._made(torch.optim.AdamW, groups)

    def train(self, mode: bool = True) -> JointTrainer:
        """As of any module; what is frozen stays in evaluation mode."""
        super().train(mode)
        if self.trained == "policy":
            self.net.eval()
            cast(torch.nn.Module, self.net.policy).train(mode)
        return self

    def training_step(self, batch: JointBatch, batch_idx: int) -> Tensor:
        """Loss of one batch."""
        policy = batch.policy
        terms: list[Tensor] = []
        raw, logits = self._outputs(self.net, batch if self.value_weight > 0 else None, policy if self.policy_weight > 0 else None)
        if raw is not None:
            terms.append(self.value_weight * raw_losses(self.net, raw, batch.probs6, self.objective, self.equity_weight).total)
        if logits is not None:
            loss = policy_cross_entropy(logits, policy.legal, policy.ids, policy.shares)
            self.means.add({"train/policy_loss": loss})
            terms.append(self.policy_weight * loss)
        if not terms:  # second halves alone, which have no value label, and no policy to learn
            terms.append(0.0 * torch.stack([weights.sum() for weights in self.net.parameters() if weights.requires_grad]).sum())
        return self._noted(torch.stack(terms).sum(), len(policy.boards))

    def on_validation_epoch_start(self) -> None:
        """Start the sums."""
        super().on_validation_epoch_start()
        self._policy_sums = torch.zeros(len(_SUMS), dtype=torch.float64, device=self.device)

    def validation_step(self, batch: JointBatch, batch_idx: int) -> None:
        """Add one batch of held-out positions and decisions to the sums."""
        policy, net = batch.policy, self.best_net
        raw, logits = self._outputs(net, batch, policy)
        if raw is not None:
            self._judge(raw_losses(net, raw, batch.probs6, self.objective, self.equity_weight), batch.probs6)
        if logits is not None:
            n = len(policy.boards)
            entropy = policy_entropy(policy.shares) * n
            cross_entropy = policy_cross_entropy(logits, policy.legal, policy.ids, policy.shares) * n
            choices = policy.legal.sum(dim=1) > 1
            hits = policy_hits(logits, policy.legal, policy.ids, policy.shares) & choices
            parts = (n, cross_entropy, entropy, choices.sum(), hits.sum())
            self._policy_sums += torch.stack([torch.as_tensor(part, dtype=torch.float64, device=self.device) for part in parts])

    @property
    def validated(self) -> tuple[str, ...]:
        """The figures that a validation logs."""
        return (*super().validated, "val/policy_ce", "val/policy_top1")

    def on_validation_epoch_end(self) -> None:
        """Log what the sums say."""
        super().on_validation_epoch_end()
        total = cast(Tensor, self.trainer.strategy.reduce(self._policy_sums, reduce_op="sum"))
        sums = dict(zip(_SUMS, total.tolist(), strict=True))
        if sums["n"] == 0:
            return
        above = (sums["cross_entropy"] - sums["entropy"]) / sums["n"]
        if not math.isfinite(above):
            raise RaccoonError(f"val/policy_ce is {above}: lower trainer.lr (or set trainer.gradient_clip_val)")
        self.log_dict({"val/policy_ce": above, "val/policy_top1": sums["hits"] / max(sums["choices"], 1)}, rank_zero_only=False)

    @staticmethod
    def _outputs(net: RaccoonNet, values: JointBatch | None, policy: PolicyBatch | None) -> tuple[Tensor | None, Tensor | None]:
        """Raw values and logits of the parts that are asked for and not empty, from one pass of the trunk."""
        x = None if values is None or not len(values.boards) else prepared(net, values.boards)
        decisions = None if policy is None or not len(policy.boards) else prepared(net, policy.boards, policy.dice, policy.mid)
        if x is not None and decisions is not None:
            return net.value_and_policy(x, decisions)
        return None if x is None else net.value_raw(x), None if decisions is None else net.policy_logits(decisions)
