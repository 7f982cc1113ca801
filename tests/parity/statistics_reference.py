"""Writes statistics_reference.json for the tests: results of scipy and statsmodels for paired differences.

Run manually after adding a statistic:

    python3 -m venv /tmp/statistics && /tmp/statistics/bin/pip install scipy==1.17.1 statsmodels==0.15.0
    /tmp/statistics/bin/python tests/parity/statistics_reference.py
"""

import json
import math
import pathlib

import numpy as np
import scipy
import statsmodels
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower
from statsmodels.stats.weightstats import ttost_paired

HERE = pathlib.Path(__file__).resolve().parent


def pairs_needed(mean, deviation):
    """The smallest number of pairs with a power of 0.8 at two-sided 0.05; null above 1,000."""
    for n in range(2, 1001):
        if TTestPower().power(abs(mean) / deviation, n, 0.05, alternative="two-sided") >= 0.8:
            return n
    return None


def of(differences):
    x = np.array(differences, float)
    test = stats.ttest_rel(x, np.zeros_like(x))
    interval = test.confidence_interval(0.95)
    plus, minus = int((x > 0).sum()), int((x < 0).sum())
    permuted = stats.permutation_test((x,), np.mean, permutation_type="samples", n_resamples=math.inf,
                                      alternative="two-sided", vectorized=True, batch=4096)
    return {"differences": differences, "t": test.statistic, "p": test.pvalue, "low": interval.low, "high": interval.high,
            "permutation_p": permuted.pvalue, "plus": plus, "minus": minus,
            "bound": 2.0, "equivalence_p": ttost_paired(x, np.zeros_like(x), -2.0, 2.0)[0],
            "sign_p": stats.binomtest(plus, plus + minus).pvalue, "pairs": pairs_needed(x.mean(), x.std(ddof=1))}


def main():
    random = np.random.default_rng(1908)
    samples = [[1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4], [4.0, -1.0, 3.0, 3.0, 1.0], [0.5, 0.25]]
    for n in (2, 3, 5, 6, 8, 11, 15, 20):
        samples.append([float(x) for x in random.normal(0.4, 1, n)])
        samples.append([float(x) for x in random.integers(-6, 12, n)])  # like numbers of problems, with many ties
    cases = [of(sample) for sample in samples]
    p = [case["p"] for case in cases[:9]]
    made = {"scipy": scipy.__version__, "statsmodels": statsmodels.__version__, "cases": cases,
            "holm": {"p": p, "corrected": list(multipletests(p, method="holm")[1])}}
    (HERE / "statistics_reference.json").write_text(json.dumps(made, indent=1) + "\n")


main()
