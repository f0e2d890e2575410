"""The voters beside the network, fitted anew on other rows with the choices they have made.

Knows voters by their methods.
"""

from dataclasses import replace

from sklearn_mrmp._host.report import SILENT
from sklearn_mrmp._host.world import ALONE
from sklearn_mrmp._voters.logistic import frequency_intercepts


def with_all_rows(ensemble, rows, Y, report=SILENT, weights=None, world=ALONE):
    """Fit the voters beside the network anew on all rows: it takes seconds, and more rows help.

    Parameters
    ----------
    ensemble : Ensemble
        As fitted.
    rows : EncodedRows
        All rows, for the ensemble's encoder.
    Y : csr_array
        Their 0/1 labels.
    report : Report, default=SILENT
        Says how it goes.
    weights : EntryWeights, default=None
        What the entries of `Y` count.
    world : World, default=ALONE
        The processes of the fit; the first one fits them for all.

    Returns
    -------
    ensemble : Ensemble
    """
    how = {"seen": True, "weights": weights, "world": world}
    voters = refitted(ensemble.voters, rows, Y, report.at("refit"), **how)
    return replace(ensemble, voters=voters, frequency=frequency_intercepts(Y, weights))


def refitted(voters, rows, Y, report, seen=False, weights=None, world=ALONE):
    """Return the voters, those beside the network fitted anew with the choices they have made.

    Those that have `seen` most of the rows may start from what they know; see `Voter.refit`. Of
    several processes the first one fits them for all.
    """

    def fit():
        new = {}
        others = {name: v for name, v in voters.items() if not v.decodes_candidates}
        for name, voter in report.each(others.items(), "voters"):
            with report.stage(f"{name} voter: fitted on {len(rows)} rows"):
                new[name] = voter.refit(rows, Y, seen, weights=weights)
        return new

    return {**voters, **world.once(fit)}
