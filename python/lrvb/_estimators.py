"""Estimators with scikit-learn's manners."""

from __future__ import annotations

from typing import Any, Optional, Union

import numpy as np
from sklearn.base import (
    BaseEstimator, ClassNamePrefixFeaturesOutMixin, DensityMixin, RegressorMixin, TransformerMixin,
)  # fmt: skip
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from . import _core
from ._dask import WEIGHTS, dask_features, is_dask
from ._data import as_data, checked_names, readable
from ._fit import Fit
from ._fitting import fitted, mixture
from ._request import seed_of


class _Estimator(BaseEstimator):
    """What both have."""

    posterior_: Fit

    def _validated(self, X: Any, reset: bool) -> np.ndarray:
        # Numbers stay as they are, doubles or not: nothing is copied that can be read.
        checked: np.ndarray = self._validate_data(X, dtype="numeric", ensure_min_samples=2 if reset else 1, reset=reset)
        if checked.dtype.kind not in "fiub":
            checked = checked.astype(np.float64)
        return checked

    def _names(self) -> list[str]:
        if hasattr(self, "feature_names_in_"):
            return [str(name) for name in self.feature_names_in_]
        return [str(at + 1) for at in range(self.n_features_in_)]


class NormalMixture(ClassNamePrefixFeaturesOutMixin, TransformerMixin, DensityMixin, _Estimator):
    """A mixture of normals, with sds for everything that it estimates.

    Parameters and attributes have the names of :class:`sklearn.mixture.BayesianGaussianMixture` where they mean the same. The fit is exact in its
    data, which are read where they are, in several passes: there is no ``partial_fit``.

    Parameters
    ----------
    n_components : int
    covariance_type : {"full", "diag"}
    n_init : int
        Starts that compete.
    max_iter : int
        Sweeps and Newton steps at most.
    weight_concentration_prior : float, optional
        The Dirichlet parameter of the weights.
    mean_prior : float or array of shape (n_features,), optional
        The prior mean of the components' means.
    degrees_of_freedom_prior : float, optional
        Of the Wishart prior of full covariances of several columns.
    prior : {"auto", "paper"}
        What the rest of the prior is: on standardised columns, or the paper's.
    tolerance : float
        The largest last step, in posterior sds.
    check : {"never", "auto", "always", "exact"}
        Compare with the exact posterior: never, since an estimator is fitted often and looked at seldom; where it takes about a second at most;
        or always; "exact" corrects the answer by it. ``posterior_.check()`` does it afterwards.
    random_state : int, RandomState or None
        Of the starts; None is 1, so that a fit is the same every time.
    threads : int, optional
        As many as there are cores otherwise.
    verbose : bool
        Show a bar.

    Attributes
    ----------
    weights_, means_, covariances_ : arrays of shape (n_components,), (n_components, n_features) and (n_components, n_features, n_features)
        Posterior means; of "diag", covariances of shape (n_components, n_features). Components are in ascending order of their first mean.
    weights_sd_, means_sd_, covariances_sd_ : arrays of the same shapes
        Posterior sds, by linear response; NaN where the fit did not converge.
    precisions_ : array
        Inverses of `covariances_`.
    converged_ : bool
    n_iter_ : int
    lower_bound_ : float
    posterior_ : Fit
        All that can be asked of the fit.
    labels_ : array of shape (n_samples,)
        The component of every row, from 0.
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> import lrvb, numpy as np
    >>> X = np.concatenate([np.linspace(-1, 1, 50), np.linspace(7, 9, 50)])[:, None]
    >>> mix = lrvb.NormalMixture(n_components=2).fit(X)
    >>> mix.means_.ravel().round(2).tolist()
    [0.0, 8.0]
    >>> mix.predict([[0.0], [8.0]]).tolist()
    [0, 1]
    """

    def __init__(
        self,
        n_components: int = 1,
        *,
        covariance_type: str = "full",
        n_init: int = 16,
        max_iter: int = 10000,
        weight_concentration_prior: Optional[float] = None,
        mean_prior: Any = None,
        degrees_of_freedom_prior: Optional[float] = None,
        prior: str = "auto",
        tolerance: float = 1e-8,
        check: Union[str, bool] = "never",
        random_state: Any = None,
        threads: Optional[int] = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.n_init = n_init
        self.max_iter = max_iter
        self.weight_concentration_prior = weight_concentration_prior
        self.mean_prior = mean_prior
        self.degrees_of_freedom_prior = degrees_of_freedom_prior
        self.prior = prior
        self.tolerance = tolerance
        self.check = check
        self.random_state = random_state
        self.threads = threads
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> NormalMixture:
        """Fit the mixture.

        Parameters
        ----------
        X : array or DataFrame of shape (n_samples, n_features)
            Those of Dask stay with its workers.
        y : ignored
        sample_weight : array of shape (n_samples,), optional
            How often each row counts.

        Returns
        -------
        NormalMixture
        """
        if self.covariance_type not in ("full", "diag"):
            raise ValueError(f"covariance_type is {self.covariance_type!r}, but must be 'full' or 'diag'")
        if is_dask(X):
            rows, names = dask_features(X)
            self.n_features_in_ = len(names)
            if hasattr(X, "columns"):
                self.feature_names_in_ = np.asarray(names, dtype=object)
            elif hasattr(self, "feature_names_in_"):
                del self.feature_names_in_
        else:
            rows = self._validated(X, reset=True)
        if sample_weight is not None and not is_dask(X):
            sample_weight = _check_sample_weight(sample_weight, rows, dtype=np.float64)
        fit = mixture(
            rows, self.n_components, weights=sample_weight, names=self._names(),
            covariance="diagonal" if self.covariance_type == "diag" else "full", prior=self.prior,
            prior_alpha=self.weight_concentration_prior, prior_mean=self.mean_prior, prior_dof=self.degrees_of_freedom_prior,
            restarts=self.n_init, max_iterations=self.max_iter, tolerance=self.tolerance, check=self.check,
            seed=seed_of(self.random_state), threads=self.threads, progress=True if self.verbose else False,
        )  # fmt: skip
        self.posterior_ = fit
        self._set_estimates(fit)
        return self

    def _set_estimates(self, fit: Fit) -> None:
        count, width = int(self.n_components), self.n_features_in_
        core = fit._core
        everything = core.variables()
        table = core.summary(list(range(len(everything))), 0.9).numbers
        at = {(group, tuple(int(index) for index in indices)): n for n, (_, group, indices, *_) in enumerate(everything) if group != ""}

        def block(group: str, *shape: int, column: int) -> np.ndarray:
            """Means (column 0) or sds (column 1) of a group, by their indices."""
            result = np.full(shape, np.nan)
            for place in np.ndindex(*shape):
                key = (group, tuple(index + 1 for index in place))
                if key not in at and len(place) == 2 and width == 1:
                    key = (group, (place[0] + 1,))
                if key not in at and len(place) == 3:
                    key = (group, (place[0] + 1, place[2] + 1, place[1] + 1))
                result[place] = table[at[key], column]
            return result

        self.weights_ = block("pi", count, column=0) if count > 1 else np.ones(1)
        self.weights_sd_ = block("pi", count, column=1) if count > 1 else np.zeros(1)
        self.means_ = block("mu", count, width, column=0)
        self.means_sd_ = block("mu", count, width, column=1)
        if self.covariance_type == "full" and width > 1:
            self.covariances_ = block("Sigma", count, width, width, column=0)
            self.covariances_sd_ = block("Sigma", count, width, width, column=1)
            self.precisions_ = np.linalg.inv(self.covariances_)
        else:
            mean, sd = (block("sigma", count, width, column=column) for column in (0, 1))
            # E σ² = (E σ)² + Var σ, and its sd to first order.
            self.covariances_ = mean**2 + np.nan_to_num(sd) ** 2
            self.covariances_sd_ = 2.0 * mean * sd
            self.precisions_ = 1.0 / self.covariances_
            if self.covariance_type == "full":
                self.covariances_ = self.covariances_[:, :, None]
                self.covariances_sd_ = self.covariances_sd_[:, :, None]
                self.precisions_ = self.precisions_[:, :, None]
        self.converged_ = fit.converged
        self.n_iter_ = max(1, int(core.iterations))
        self.lower_bound_ = fit.bound

    @property
    def labels_(self) -> np.ndarray:
        """The component of every row that was fitted, from 0."""
        check_is_fitted(self, "posterior_")
        labels: np.ndarray = self.posterior_.predict()["component"].to_numpy() - 1
        return labels

    def _predicted(self, X: Any) -> Any:
        check_is_fitted(self, "posterior_")
        rows = self._validated(X, reset=False)
        core = as_data(rows, names=self._names())
        return self.posterior_._core.predict(core, _core.PredictOptions())

    def _numbers(self, X: Any, start: str) -> np.ndarray:
        table = self._predicted(X)
        chosen = [at for at, name in enumerate(table.columns) if name.startswith(start)]
        numbers: np.ndarray = np.ascontiguousarray(table.numbers[:, chosen])
        return numbers

    def predict(self, X: Any) -> np.ndarray:
        """The component of every row, from 0."""
        labels: np.ndarray = self._numbers(X, "component").ravel().astype(np.int64) - 1
        return labels

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Fit, and the component of every row."""
        return self.fit(X, y, sample_weight=sample_weight).predict(X)

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of every component, for every row."""
        return self._numbers(X, "p")

    def transform(self, X: Any) -> np.ndarray:
        """The same, so that the mixture can stand before another step of a Pipeline."""
        return self.predict_proba(X)

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components)

    def score_samples(self, X: Any) -> np.ndarray:
        """The log density of every row, parameters at their posterior means."""
        return self._numbers(X, "log_density").ravel()

    def score(self, X: Any, y: Any = None) -> float:
        """The mean of :meth:`score_samples`."""
        return float(self.score_samples(X).mean())

    def sample(self, n_samples: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """Rows drawn from the mixture at its posterior means, and the components that they come from."""
        check_is_fitted(self, "posterior_")
        if n_samples < 1:
            raise ValueError(f"n_samples is {n_samples}, but must be 1 or more")
        random = np.random.default_rng(seed_of(self.random_state))
        labels = np.sort(random.choice(len(self.weights_), size=n_samples, p=self.weights_ / self.weights_.sum()))
        rows = np.empty((n_samples, self.n_features_in_))
        for component in np.unique(labels):
            covariance = self.covariances_[component]
            covariance = np.diag(covariance) if covariance.ndim == 1 else covariance
            chosen = labels == component
            rows[chosen] = random.multivariate_normal(self.means_[component], covariance, size=int(chosen.sum()))
        return rows, labels


class LinearRegression(RegressorMixin, _Estimator):
    """Bayesian linear regression, with sds for everything that it estimates.

    Parameters
    ----------
    fit_intercept : bool
    prior : {"auto", "paper"}
        On the scale of the columns, or the paper's.
    tolerance, check, random_state, threads, verbose
        As of :class:`NormalMixture`.

    Attributes
    ----------
    coef_, intercept_, sigma_ : array of shape (n_features,), float, float
        Posterior means; sigma_ is the residual sd.
    coef_sd_, intercept_sd_, sigma_sd_
        Posterior sds.
    converged_ : bool
    n_iter_ : int
    posterior_ : Fit
        All that can be asked of the fit.
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> import lrvb, numpy as np
    >>> X = np.arange(20.0)[:, None]
    >>> y = 1.0 + 2.0 * X.ravel() + np.tile([0.1, -0.1], 10)
    >>> model = lrvb.LinearRegression().fit(X, y)
    >>> model.coef_.round(2).tolist()
    [2.0]
    >>> mean, sd = model.predict([[3.0]], return_std=True)
    """

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        prior: str = "auto",
        tolerance: float = 1e-8,
        check: Union[str, bool] = "never",
        random_state: Any = None,
        threads: Optional[int] = None,
        verbose: bool = False,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.prior = prior
        self.tolerance = tolerance
        self.check = check
        self.random_state = random_state
        self.threads = threads
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LinearRegression:
        """Fit the regression.

        Parameters
        ----------
        X : array or DataFrame of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional

        Returns
        -------
        LinearRegression
        """
        rows, response = self._validate_data(X, y, dtype="numeric", y_numeric=True, ensure_min_samples=2)
        names = checked_names(self._names(), rows.shape[1])
        own, counts = "y", WEIGHTS
        while own in names:
            own += "_"
        while counts in names:
            counts += "_"
        settings = [("response", own), ("prior", self.prior)]
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, rows, dtype=np.float64)
            settings.append(("weights", counts))
        if not self.fit_intercept:
            settings.append(("no-intercept", "yes"))
        parts: list[Any] = [(name, readable(rows[:, at], name)) for at, name in enumerate(names)]
        parts.append((own, np.asarray(response, dtype=np.float64)))
        if weights is not None:
            parts.append((counts, weights))
        data = _core.Data.from_columns("a table in memory", parts, [])
        fit = fitted(
            "regression", data, settings, seed=seed_of(self.random_state), tolerance=self.tolerance, max_iterations=10000,
            check=self.check, seconds=None, threads=self.threads, progress=True if self.verbose else False,
        )  # fmt: skip
        self.posterior_ = fit
        self._set_estimates(fit, names)
        return self

    def _set_estimates(self, fit: Fit, names: list[str]) -> None:
        summary = fit._core.summary(list(range(len(fit.variables))), 0.9).numbers
        groups: dict[str, list[int]] = {}
        for at, variable in enumerate(fit._core.variables()):
            groups.setdefault(variable[1], []).append(at)
        slopes = groups["beta"]
        self.coef_ = summary[slopes, 0].copy()
        self.coef_sd_ = summary[slopes, 1].copy()
        if self.fit_intercept:
            self.intercept_, self.intercept_sd_ = (float(summary[groups["intercept"][0], column]) for column in (0, 1))
        else:
            self.intercept_, self.intercept_sd_ = 0.0, 0.0
        self.sigma_, self.sigma_sd_ = (float(summary[groups["sigma"][0], column]) for column in (0, 1))
        self.converged_ = fit.converged
        self.n_iter_ = max(1, int(fit._core.iterations))

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """The posterior mean of the response of every row, and with `return_std` the sd of a new one.

        Examples
        --------
        >>> import lrvb, numpy as np
        >>> X = np.arange(20.0)[:, None]
        >>> lrvb.LinearRegression().fit(X, X.ravel() + np.tile([0.1, -0.1], 10)).predict([[3.0]]).round(1).tolist()
        [3.0]
        """
        check_is_fitted(self, "posterior_")
        rows = self._validated(X, reset=False)
        table = self.posterior_._core.predict(as_data(rows, names=self._names()), _core.PredictOptions())
        mean = table.numbers[:, table.columns.index("mean")].copy()
        if not return_std:
            return mean
        return mean, table.numbers[:, table.columns.index("sd")].copy()
