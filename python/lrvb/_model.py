"""Models that are declared: variables with priors, and data observed under them."""

from __future__ import annotations

from typing import Any, Optional, Sequence, Union

import numpy as np

from . import _core
from ._data import as_numbers
from ._errors import DataError, UsageError
from ._fit import Fit
from ._progress import progress_of
from ._request import request_of, whole

Variable = _core.Variable
Expression = _core.Expression


class Distribution:
    """A distribution with its parameters, which may be numbers, variables, expressions of them, or, for data, arrays of these.

    Made by :func:`normal`, :func:`gamma` and the others.

    Examples
    --------
    >>> import lrvb
    >>> lrvb.normal(0, 1)
    normal(0, 1)
    """

    #: Parameters that are vectors or matrices, so that an array is one of them and not one for each row.
    _WHOLE = {"mv_normal": (0, 1), "wishart": (1,), "dirichlet": (0,), "categorical": (0,), "multinomial": (0,), "mixture": (1,)}

    def __init__(self, name: str, *parameters: Any) -> None:
        self.name = name
        # Columns of a frame are arrays.
        self.parameters = tuple(one.to_numpy() if hasattr(one, "to_numpy") else one for one in parameters)

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(str(parameter) for parameter in self.parameters)})"

    @property
    def rows(self) -> Optional[int]:
        """How many rows its parameters are for; None where they are the same for all."""
        whole = self._WHOLE.get(self.name, ())
        lengths = set()
        for at, parameter in enumerate(self.parameters):
            if isinstance(parameter, Distribution) and parameter.rows is not None:
                lengths.add(parameter.rows)
            if at not in whole and isinstance(parameter, (np.ndarray, list, tuple)) and np.ndim(parameter) == 1:
                lengths.add(len(parameter))
        if self.name == "mixture":
            lengths |= {part.rows for part in self.parameters[1] if part.rows is not None}
        if len(lengths) > 1:
            raise DataError(f"{self.name}: its parameters have {', '.join(str(n) for n in sorted(lengths))} rows: give as many of each")
        return lengths.pop() if lengths else None

    def _built(self, row: Optional[int] = None) -> _core.Distribution:
        whole = self._WHOLE.get(self.name, ())
        parameters = []
        for at, parameter in enumerate(self.parameters):
            if at not in whole and row is not None and isinstance(parameter, (np.ndarray, list, tuple)) and np.ndim(parameter) == 1:
                parameter = parameter[row]
            if isinstance(parameter, np.generic):
                parameter = parameter.item()
            parameters.append(parameter)
        if self.name == "mixture":
            parameters[1] = [part._built(row) for part in parameters[1]]
        result: _core.Distribution = getattr(_core, self.name)(*parameters)
        return result


def normal(mean: Any, precision: Any) -> Distribution:
    """Normal, by its mean (any polynomial in variables) and its precision (a positive constant times Gamma variables).

    Examples
    --------
    >>> normal(0, 0.01)
    normal(0, 0.01)
    """
    return Distribution("normal", mean, precision)


def mv_normal(mean: Any, precision: Any) -> Distribution:
    """Multivariate normal, by its mean and its precision matrix: constant, a Wishart variable, or :func:`scaled`.

    Examples
    --------
    >>> mv_normal([0, 0], np.eye(2)).name
    'mv_normal'
    """
    return Distribution("mv_normal", mean, precision)


def gamma(shape: Any, rate: Any) -> Distribution:
    """Gamma, by shape (a constant) and rate (a positive constant times Gamma variables).

    Examples
    --------
    >>> gamma(2, 0.1)
    gamma(2, 0.1)
    """
    return Distribution("gamma", shape, rate)


def exponential(rate: Any) -> Distribution:
    """Exponential, by its rate.

    Examples
    --------
    >>> exponential(1.5)
    exponential(1.5)
    """
    return Distribution("exponential", rate)


def wishart(dof: Any, inverse_scale: Any) -> Distribution:
    """Wishart, by degrees of freedom and inverse scale: its mean is dof times the inverse of that.

    Examples
    --------
    >>> wishart(5, np.eye(2)).name
    'wishart'
    """
    return Distribution("wishart", dof, inverse_scale)


def dirichlet(alpha: Any) -> Distribution:
    """Dirichlet, by positive constants.

    Examples
    --------
    >>> dirichlet([1, 1, 1])
    dirichlet([1, 1, 1])
    """
    return Distribution("dirichlet", alpha)


def beta(a: Any, b: Any) -> Distribution:
    """Beta, by two positive constants.

    Examples
    --------
    >>> beta(1, 1)
    beta(1, 1)
    """
    return Distribution("beta", a, b)


def bernoulli(p: Any) -> Distribution:
    """Bernoulli, by its probability: a constant or a Beta variable.

    Examples
    --------
    >>> bernoulli(0.5)
    bernoulli(0.5)
    """
    return Distribution("bernoulli", p)


def categorical(p: Any) -> Distribution:
    """Categorical, by probabilities: constants or a Dirichlet variable. Labels count from 0.

    Examples
    --------
    >>> categorical([0.5, 0.5])
    categorical([0.5, 0.5])
    """
    return Distribution("categorical", p)


def poisson(rate: Any, exposure: Any = 1.0) -> Distribution:
    """Poisson counts, by their rate and an exposure, which multiplies it.

    Examples
    --------
    >>> poisson(3.0)
    poisson(3.0, 1.0)
    """
    return Distribution("poisson", rate, exposure)


def binomial(trials: int, p: Any) -> Distribution:
    """Binomial counts of so many trials, by the probability of each.

    Examples
    --------
    >>> binomial(10, 0.5)
    binomial(10, 0.5)
    """
    return Distribution("binomial", trials, p)


def multinomial(p: Any) -> Distribution:
    """Counts of labels, by their probabilities.

    Examples
    --------
    >>> multinomial([0.5, 0.5])
    multinomial([0.5, 0.5])
    """
    return Distribution("multinomial", p)


def one_of(choice: Variable, components: Sequence[Distribution]) -> Distribution:
    """One of several distributions of one kind, chosen by a categorical variable: a mixture.

    Examples
    --------
    >>> import lrvb
    >>> m = lrvb.Model()
    >>> z = m.categorical("z", [0.5, 0.5])
    >>> lrvb.one_of(z, [lrvb.normal(0, 1), lrvb.normal(4, 1)]).name
    'mixture'
    """
    return Distribution("mixture", choice, list(components))


def log(variable: Variable) -> Expression:
    """The logarithm of a Gamma or Beta variable, or of the determinant of a Wishart one.

    Examples
    --------
    >>> import lrvb
    >>> m = lrvb.Model()
    >>> type(lrvb.log(m.gamma("tau", 2, 1))).__name__
    'Expression'
    """
    return variable.log()


def scaled(scale: Any, matrix: Any) -> Any:
    """A precision matrix times a scale: a positive constant times Gamma variables.

    Examples
    --------
    >>> import lrvb
    >>> m = lrvb.Model()
    >>> beta = m.mv_normal("beta", [0, 0], lrvb.scaled(m.gamma("tau", 2, 1), np.eye(2)))
    """
    return _core.scaled(scale, matrix)


class Rows:
    """Rows of the data, with a name: what :meth:`Fit.influence` speaks of. Made by :meth:`Model.rows`."""

    def __init__(self, core: _core.Rows) -> None:
        self._core = core

    def __len__(self) -> int:
        return len(self._core)

    def __getitem__(self, row: int) -> _core.Row:
        return self._core[row]


class Model:
    """A model that is declared: conditionally conjugate, of any depth.

    Examples
    --------
    >>> import lrvb, numpy as np
    >>> y = np.array([4.1, 5.3, 3.9, 6.0, 5.2, 4.7])
    >>> m = lrvb.Model()
    >>> mu = m.normal("mu", 0, 0.04)
    >>> tau = m.gamma("tau", 2, 1)
    >>> m.observe("y", y, lrvb.normal(mu, tau))
    >>> fit = m.fit()
    >>> round(fit.mean("mu"), 3), round(fit.sd("mu"), 3)
    (4.848, 0.308)
    """

    def __init__(self) -> None:
        self._builder = _core.Builder()
        self._declared: Optional[_core.DeclaredModel] = None

    def __reduce__(self) -> Any:
        raise TypeError("a Model is neither copied nor pickled: declare it in a function that can be called again; its fit can be pickled")

    # Variables.

    def add(self, name: str, distribution: Distribution, row: Optional[_core.Row] = None) -> Variable:
        """A variable with this prior. One that belongs to a row of the data, such as its label, is declared with it.

        Examples
        --------
        >>> import lrvb
        >>> lrvb.Model().add("mu", lrvb.normal(0, 1))
        <mu ~ Normal>
        """
        self._declared = None
        return self._builder.add(str(name), distribution._built(), row if row is not None else _core.Row())

    def normal(self, name: str, mean: Any, precision: Any) -> Variable:
        """A normal variable, by mean and precision."""
        return self.add(name, normal(mean, precision))

    def mv_normal(self, name: str, mean: Any, precision: Any) -> Variable:
        """A vector, by mean and precision matrix."""
        return self.add(name, mv_normal(mean, precision))

    def gamma(self, name: str, shape: Any, rate: Any) -> Variable:
        """A positive variable, by shape and rate."""
        return self.add(name, gamma(shape, rate))

    def wishart(self, name: str, dof: Any, inverse_scale: Any) -> Variable:
        """A positive definite matrix, by degrees of freedom and inverse scale."""
        return self.add(name, wishart(dof, inverse_scale))

    def dirichlet(self, name: str, alpha: Any) -> Variable:
        """Probabilities that add up to one."""
        return self.add(name, dirichlet(alpha))

    def beta(self, name: str, a: Any, b: Any) -> Variable:
        """A probability."""
        return self.add(name, beta(a, b))

    def bernoulli(self, name: str, p: Any, row: Optional[_core.Row] = None) -> Variable:
        """A variable that is 0 or 1."""
        return self.add(name, bernoulli(p), row)

    def categorical(self, name: str, p: Any, row: Optional[_core.Row] = None) -> Variable:
        """A label, counted from 0."""
        return self.add(name, categorical(p), row)

    def hyperparameter(self, name: str, value: float) -> Expression:
        """A number of the prior with a name, which :meth:`Fit.sensitivity` speaks of.

        Examples
        --------
        >>> import lrvb
        >>> m = lrvb.Model()
        >>> mu = m.normal("mu", m.hyperparameter("location", 0.0), 1.0)
        """
        self._declared = None
        return self._builder.hyperparameter(str(name), float(value))

    # Data.

    def rows(self, name: str, count: int) -> Rows:
        """Rows of the data, for several observations of each."""
        return Rows(self._builder.rows(str(name), int(count)))

    def observe(self, name: str, values: Any, distribution: Distribution, rows: Union[Rows, _core.Row, None] = None) -> None:
        """Data: a column of numbers, rows of vectors, or a single number.

        Parameters
        ----------
        name : str
            What the numbers are called.
        values : array, Series, or number
            One for each row; for vectors an array of two dimensions.
        distribution : Distribution
            Of each row, its parameters the same for all of them, or arrays with one for each row, such as ``a + b * x``.
        rows : Rows, optional
            Of which rows; a set of their own otherwise.

        Examples
        --------
        >>> import lrvb, numpy as np
        >>> x = np.arange(10.0)
        >>> m = lrvb.Model()
        >>> a, b, tau = m.normal("a", 0, 0.01), m.normal("b", 0, 0.01), m.gamma("tau", 2, 1)
        >>> m.observe("y", 1.0 + 2.0 * x, lrvb.normal(a + b * x, tau))
        >>> round(m.fit(check="never").mean("b"), 2)
        2.0
        """
        if not isinstance(distribution, Distribution):
            raise UsageError(f"observe {name!r}: the distribution is {distribution!r}, but must be one, such as lrvb.normal(mu, tau)")
        self._declared = None
        numbers = _numbers(name, values)
        if numbers.ndim == 0 or isinstance(rows, _core.Row):
            row = rows if isinstance(rows, _core.Row) else _core.Row()
            self._builder.observe(float(numbers) if numbers.ndim == 0 else numbers, distribution._built(), row)
            return
        count = len(numbers)
        if isinstance(rows, Rows):
            named = rows._core.named(str(name))
            if len(rows) != count:
                raise DataError(f"observe {name!r}: there are {count} values for {len(rows)} rows: give one a row")
        else:
            named = self._builder.rows(str(name), count).named(str(name))
        per_row = distribution.rows
        if per_row is None:
            matrix = numbers.reshape(count, -1)
            self._builder.observe_rows(np.asfortranarray(matrix), distribution._built(), named)
            return
        if per_row != count:
            raise DataError(f"observe {name!r}: there are {count} values, but parameters for {per_row} rows: give as many of each")
        for at in range(count):
            value = numbers[at]
            self._builder.observe(float(value) if numbers.ndim == 1 else value, distribution._built(at), named[at])

    def observe_linear(self, name: str, values: Any, design: Any, coefficients: Any, precision: Any, rows: Optional[Rows] = None) -> None:
        """A column of normal responses with a design matrix: values ~ normal(design @ coefficients, precision).

        Examples
        --------
        >>> import lrvb, numpy as np
        >>> X = np.column_stack([np.ones(10), np.arange(10.0)])
        >>> m = lrvb.Model()
        >>> beta = m.mv_normal("beta", [0, 0], 0.01 * np.eye(2))
        >>> m.observe_linear("y", X @ [1.0, 2.0], X, beta, m.gamma("tau", 2, 1))
        >>> round(m.fit(check="never").mean("beta[2]"), 2)
        2.0
        """
        self._declared = None
        numbers = _numbers(name, values)
        matrix = _numbers("design", design)
        if numbers.ndim != 1 or matrix.ndim != 2 or len(numbers) != len(matrix):
            raise DataError(f"observe_linear {name!r}: values have the shape {numbers.shape} and the design {matrix.shape}: give as many rows of each")
        named = rows._core.named(str(name)) if rows is not None else self._builder.rows(str(name), len(numbers)).named(str(name))
        self._builder.observe_linear(numbers, matrix, coefficients, precision, named)

    def add_term(self, term: Any) -> None:
        """Adds an expression to the log joint density."""
        self._declared = None
        self._builder.add_term(term)

    # The fit.

    def _build(self) -> _core.DeclaredModel:
        if self._declared is None:
            self._declared = self._builder.build()
        return self._declared

    def fit(
        self,
        *,
        restarts: int = 1,
        seed: Any = 1,
        tolerance: float = 1e-8,
        max_iterations: int = 10000,
        check: Union[str, bool] = "auto",
        seconds: Optional[float] = None,
        threads: Optional[int] = None,
        progress: Any = None,
    ) -> Fit:
        """Fit the model.

        Parameters
        ----------
        restarts : int
            Random starts; the best wins.
        seed, tolerance, max_iterations, check, seconds, threads, progress
            As of :func:`lrvb.mixture`.

        Returns
        -------
        Fit

        Examples
        --------
        >>> import lrvb
        >>> m = lrvb.Model()
        >>> rate = m.gamma("rate", 2, 1)
        >>> m.observe("n", [3, 5, 4], lrvb.poisson(rate))
        >>> round(m.fit().mean("rate"), 3)
        3.5
        """
        from ._fitting import told

        with progress_of(progress) as teller:
            request = request_of(
                "declared", [("restarts", whole("restarts", restarts))], seed=seed, tolerance=tolerance,
                max_iterations=max_iterations, check=check, seconds=seconds, threads=threads, progress=teller,
            )  # fmt: skip
            core = _core.fit_declared(self._build(), request)
        return told(Fit(core))


def _numbers(name: str, values: Any) -> np.ndarray:
    numbers = as_numbers(values, repr(name)).astype(np.float64)
    if numbers.ndim > 2:
        raise DataError(f"{name!r} has {numbers.ndim} dimensions, but must have two at most")
    if not np.isfinite(numbers).all():
        at = int(np.argwhere(~np.isfinite(numbers.reshape(len(numbers), -1) if numbers.ndim else numbers))[0][0]) if numbers.ndim else 0
        value = numbers.ravel()[0] if numbers.ndim == 0 else numbers[at]
        raise DataError(f"{name!r}: the value in row {at} (from 0) is {'missing' if np.isnan(value).any() else value}: leave it out")
    return numbers
