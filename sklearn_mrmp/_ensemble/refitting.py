"""The voters beside the network, fitted anew on other rows with the choices they have made.

Knows voters by their methods.
"""

from dataclasses import replace

from sklearn_mrmp._host.report import SILENT
from sklearn_mrmp._voters.logistic import frequency_intercepts


def with_all_rows(ensemble, rows, Y, report=SILENT, weights=None):
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

    Returns
    -------
    ensemble : Ensemble
    """
    voters = refitted(ensemble.voters, rows, Y, report.at("refit"), seen=True, weights=weights)
    return replace(ensemble, voters=voters, frequency=frequency_intercepts(Y, weights))


def refitted(voters, rows, Y, report, seen=False, weights=None):
    """Return the voters, those beside the network fitted anew with the choices they have made.

    Those that have `seen` most of the rows may start from what they know; see `Voter.refit`.
    """
    new = dict(voters)
    for name, voter in voters.items():
        if not voter.decodes_candidates:
            with report.stage(f"{name} voter: fitted on {len(rows)} rows"):
                new[name] = voter.refit(rows, Y, seen, weights=weights)
    return new
