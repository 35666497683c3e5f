# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decision trees that choose the fastest of several kernels, and how well they choose for tensors
that they were not fitted to."""
import math

LEAST = 3                      # cases of a leaf
SIZES = (0, 2, 3, 4, 5, 6, 8)  # numbers of leaves that are tried; 0: a single choice, by its mean


class Case:
    """What was chosen from: the tensor, features, and {choice: seconds}."""

    def __init__(self, tensor, features, times):
        self.tensor, self.features, self.times = tensor, features, times
        self.best = min(times, key=times.get)
        # By the logarithm of how much longer the worst takes than the best; over four times counts
        # as four times.
        self.weight = math.log(min(max(times.values()) / times[self.best], 4)) + 1e-6

    def regret(self, choice):
        """Time by the choice over that by the best; the worst where it is refused."""
        return self.times.get(choice, max(self.times.values())) / self.times[self.best]


def _weights(cases):
    found = {}
    for case in cases:
        found[case.best] = found.get(case.best, 0) + case.weight
    return found


def _impurity(weights):
    """The entropy, times the weight."""
    whole = sum(weights.values())
    return -sum(one * math.log2(one / whole) for one in weights.values() if one > 1e-15 * whole)


class Node:
    """A question, or a leaf where `feature` is None. rank: in the order in which nodes were split."""

    def __init__(self, cases):
        self.cases, weights = cases, _weights(cases)
        self.choice = max(sorted(weights), key=weights.get)
        self.impurity = _impurity(weights)
        self.feature, self.threshold, self.rank = None, 0.0, 0
        self.up_to, self.past = None, None

    def best_split(self, features):
        """(gain, feature, threshold), the first of those that gain most; None where nothing gains."""
        found = None
        for feature in features:
            ordered = sorted(self.cases, key=lambda case: case.features[feature])
            left, right = {}, _weights(ordered)
            for at, case in enumerate(ordered[:-LEAST]):
                left[case.best] = left.get(case.best, 0) + case.weight
                right[case.best] -= case.weight
                here, there = case.features[feature], ordered[at + 1].features[feature]
                if at + 1 < LEAST or here == there:
                    continue
                gain = self.impurity - _impurity(left) - _impurity(right)
                if gain > 1e-9 and (found is None or gain > found[0]):
                    found = (gain, feature, (here + there) / 2)
        return found

    def split(self, feature, threshold, rank):
        self.feature, self.threshold, self.rank = feature, threshold, rank
        self.up_to = Node([one for one in self.cases if one.features[feature] <= threshold])
        self.past = Node([one for one in self.cases if one.features[feature] > threshold])
        return [self.up_to, self.past]

    def leaves(self):
        return [self] if self.feature is None else self.up_to.leaves() + self.past.leaves()


class Tree:
    """A classification tree; the split that gains most entropy is made first. With fewer leaves it is
    the beginning of itself."""

    def __init__(self, cases, features, leaves):
        self.top = Node(cases)
        open_leaves = [(self.top, self.top.best_split(features))]
        for rank in range(1, leaves):
            splits = [one for one in open_leaves if one[1]]
            if not splits:
                break
            node, split = max(splits, key=lambda one: one[1][0])
            open_leaves.remove((node, split))
            open_leaves += [(one, one.best_split(features)) for one in node.split(*split[1:], rank)]

    def choose(self, case, leaves=math.inf):
        node = self.top
        while node.feature is not None and node.rank < leaves:
            node = node.up_to if case.features[node.feature] <= node.threshold else node.past
        return node.choice


def mean(numbers):
    numbers = list(numbers)
    return sum(numbers) / max(1, len(numbers))


def choices_of(cases):
    return sorted({choice for case in cases for choice in case.times})


def best_single(cases):
    return min(choices_of(cases), key=lambda choice: mean(case.regret(choice) for case in cases))


def folds(cases):
    """(those of other tensors, those of one tensor)."""
    for tensor in sorted({case.tensor for case in cases}):
        others = [case for case in cases if case.tensor != tensor]
        if others:
            yield others, [case for case in cases if case.tensor == tensor]


def chosen_without(cases, features):
    """{number of leaves: {id of a case: what a tree chooses that was fitted without its tensor}}."""
    chosen = {leaves: {} for leaves in SIZES}
    for others, own in folds(cases):
        tree, single = Tree(others, features, max(SIZES)), best_single(others)
        for leaves in SIZES:
            for case in own:
                chosen[leaves][id(case)] = tree.choose(case, leaves) if leaves else single
    return chosen


def size_of(cases, chosen):
    """The number of leaves with the least mean regret, each of which must gain half a per cent."""
    regrets = {leaves: mean(case.regret(own[id(case)]) for case in cases if id(case) in own)
               for leaves, own in chosen.items()}
    return min(SIZES, key=lambda leaves: (regrets[leaves] + 0.005 * leaves, leaves))


def left_out(cases, features):
    """[(case, the tree's choice, the best single choice)]: both from other tensors alone, which also
    decide the number of leaves, as they would for a tensor that comes later."""
    found = []
    for others, own in folds(cases):
        leaves, single = size_of(others, chosen_without(others, features)), best_single(others)
        tree = Tree(others, features, leaves)
        found += [(case, tree.choose(case) if leaves else single, single) for case in own]
    return found
