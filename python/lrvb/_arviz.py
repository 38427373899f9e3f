"""A fit as ArviZ's InferenceData, or as the same groups where ArviZ is not installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._errors import DataError
from ._request import count
from ._rows import row_index

if TYPE_CHECKING:
    from ._fit import Fit


class InferenceGroups:
    """The groups of an InferenceData, each an ``xarray.Dataset``, as attributes and by name.

    Examples
    --------
    >>> import xarray
    >>> InferenceGroups(posterior=xarray.Dataset()).groups()
    ['posterior']
    """

    def __init__(self, **groups: Any) -> None:
        self._groups = groups
        for name, dataset in groups.items():
            setattr(self, name, dataset)

    def groups(self) -> list[str]:
        """The names of the groups."""
        return list(self._groups)

    def __getitem__(self, name: str) -> Any:
        return self._groups[name]

    def __contains__(self, name: str) -> bool:
        return name in self._groups

    def __repr__(self) -> str:
        return "Inference data with groups:\n" + "\n".join(f"\t> {name}" for name in self._groups)


def _posterior(fit: Fit, values: np.ndarray, chains: int) -> Any:
    """Groups of variables as arrays over their indices."""
    import xarray

    chosen = fit._select(None)
    everything = fit._core.variables()
    groups: dict[str, list[tuple[int, list[str]]]] = {}
    for column, at in enumerate(chosen):
        groups.setdefault(everything[at][1], []).append((column, everything[at][3]))
    length = values.shape[0] // chains
    shaped = values[: chains * length].reshape(chains, length, -1)
    variables = {}
    coordinates: dict[str, Any] = {"chain": np.arange(chains), "draw": np.arange(length)}
    for group, members in groups.items():
        depth = len(members[0][1])
        labels = [list(dict.fromkeys(member[1][axis] for member in members)) for axis in range(depth)]
        is_full = all(len(member[1]) == depth for member in members) and len(members) == int(np.prod([len(axis) for axis in labels]))
        if not is_full:  # half of a matrix: its entries one after the other
            labels = [[",".join(member[1]) for member in members]]
        dimensions = [f"{group}_dim_{axis}" for axis in range(len(labels))]
        array = shaped[:, :, [member[0] for member in members]].reshape(chains, length, *[len(axis) for axis in labels])
        variables[group] = (["chain", "draw", *dimensions], array)
        coordinates.update(dict(zip(dimensions, labels)))
    return xarray.Dataset(variables, coords=coordinates)


def inference_data(fit: Fit, n: int) -> Any:
    """What :meth:`Fit.to_arviz` gives."""
    import xarray

    n = count("n", n, most=10_000_000)
    if not fit._core.has_data:
        raise DataError("this needs the data that were fitted, and the fit was loaded without them: give them by fit.with_data(data)")
    check = fit._checked(n, fit._core.seed)
    # Chains stand one after the other; draws of importance sampling, or of an integral, are one.
    chains = max(1, check.chains)
    taken = n // chains * chains or chains
    values = check.draws_of(taken, fit._select(None))
    length = taken // chains
    coordinates = {"chain": np.arange(chains), "draw": np.arange(length)}
    groups: dict[str, Any] = {"posterior": _posterior(fit, values, chains)}
    density = check.log_density_of(taken).reshape(chains, length)
    groups["sample_stats"] = xarray.Dataset({"lp": (["chain", "draw"], density)}, coords=coordinates)
    if fit._core.has_rows():
        names, observed = fit._core.observed()
        rows = {"row": row_index(fit._core.row_labels()).to_numpy()}
        if names:
            groups["observed_data"] = xarray.Dataset({name: (["row"], observed[:, at]) for at, name in enumerate(names)}, coords=rows)
        likelihood = fit._core.log_likelihoods(check, taken).reshape(chains, length, -1)
        name = names[0] if len(names) == 1 else "rows"
        groups["log_likelihood"] = xarray.Dataset({name: (["chain", "draw", "row"], likelihood)}, coords={**coordinates, **rows})
    for dataset in groups.values():
        dataset.attrs["inference_library"] = "lrvb"
    groups["posterior"].attrs["verdict"] = check.verdict
    groups["posterior"].attrs["trust"] = check.trust
    try:
        import arviz
    except ImportError:
        return InferenceGroups(**groups)
    return arviz.InferenceData(**groups)
