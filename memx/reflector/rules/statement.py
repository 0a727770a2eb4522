"""An invariant, a decision or a fact, given with its reason."""

from __future__ import annotations

from memx.reflector.rules.rule import Rule


class StatementRule(Rule):
    """`Only the pricing service writes prices, otherwise stock and invoices get out of step`."""

    name = "statement"
    confidence = 0.55
    reach = 2
    negation = "none"
    plans_void = False
    stands_alone = False
