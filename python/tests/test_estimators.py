"""Scikit-learn's manners."""

import pickle

import lrvb
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.mixture import BayesianGaussianMixture
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([lrvb.NormalMixture(), lrvb.LinearRegression()])
def test_every_check_of_scikit_learn(estimator, check):
    check(estimator)


def test_attributes_agree_with_scikit_learn(two_groups):
    X = two_groups[:, None]
    mine = lrvb.NormalMixture(n_components=2).fit(X)
    theirs = BayesianGaussianMixture(n_components=2, random_state=1, tol=1e-8, max_iter=5000, mean_precision_prior=1e-4).fit(X)
    order = np.argsort(theirs.means_.ravel())
    assert mine.means_.ravel() == pytest.approx(theirs.means_.ravel()[order], abs=0.05)
    assert mine.weights_ == pytest.approx(theirs.weights_[order], abs=0.02)
    assert mine.covariances_.shape == theirs.covariances_.shape and mine.precisions_.shape == theirs.precisions_.shape
    assert (mine.predict(X) == np.argsort(order)[theirs.predict(X)]).all()
    assert mine.means_sd_.ravel() == pytest.approx([1 / np.sqrt(120), 1 / np.sqrt(80)], rel=0.2)
    assert mine.converged_ and mine.n_iter_ > 0


def test_shapes_of_several_columns(faithful):
    full = lrvb.NormalMixture(2).fit(faithful)
    diagonal = lrvb.NormalMixture(2, covariance_type="diag").fit(faithful)
    assert full.covariances_.shape == full.covariances_sd_.shape == (2, 2, 2)
    assert np.allclose(full.covariances_, full.covariances_.transpose(0, 2, 1))
    assert diagonal.covariances_.shape == diagonal.covariances_sd_.shape == (2, 2)
    assert list(full.feature_names_in_) == ["eruptions", "waiting"]
    summary = full.posterior_.summary()
    assert full.means_[1, 0] == summary["mean"]["mu[2,eruptions]"]
    assert full.means_sd_[0, 1] == summary["sd"]["mu[1,waiting]"]
    assert full.covariances_[1, 0, 1] == summary["mean"]["Sigma[2,eruptions,waiting]"]
    rows, labels = full.sample(500)
    assert rows.shape == (500, 2) and set(labels) == {0, 1}
    assert rows.mean(axis=0) == pytest.approx(faithful.mean().to_numpy(), rel=0.05)


def test_responsibilities_add_up(faithful):
    mix = lrvb.NormalMixture(3).fit(faithful)
    probabilities = mix.predict_proba(faithful)
    assert probabilities.shape == (272, 3) and probabilities.sum(axis=1) == pytest.approx(np.ones(272))
    assert (probabilities.argmax(axis=1) == mix.predict(faithful)).all() and (mix.labels_ == mix.predict(faithful)).all()
    assert mix.score(faithful) == pytest.approx(mix.score_samples(faithful).mean())


def test_a_pipeline_and_a_search(two_groups):
    X = two_groups[:, None]
    search = GridSearchCV(lrvb.NormalMixture(), {"n_components": [1, 2]}, cv=3).fit(X)
    assert search.best_params_ == {"n_components": 2}
    pipe = make_pipeline(StandardScaler(), lrvb.NormalMixture(2))
    assert set(pipe.fit_predict(X)) == {0, 1} and np.isfinite(cross_val_score(pipe, X, cv=3)).all()


def test_set_output(faithful):
    mix = lrvb.NormalMixture(2).fit(faithful).set_output(transform="pandas")
    shown = mix.transform(faithful)
    assert isinstance(shown, pd.DataFrame) and list(shown.columns) == ["normalmixture0", "normalmixture1"]
    pipe = make_pipeline(StandardScaler(), lrvb.NormalMixture(2)).set_output(transform="pandas")
    assert pipe.fit_transform(faithful).shape == (272, 2)


def test_clone_and_pickle(two_groups):
    X = two_groups[:, None]
    mix = lrvb.NormalMixture(2, random_state=4).fit(X)
    again = pickle.loads(pickle.dumps(mix))
    assert (again.predict_proba(X) == mix.predict_proba(X)).all()
    assert again.posterior_.to_json() == mix.posterior_.to_json()
    assert again.posterior_.with_data(X).influence(top=2).equals(mix.posterior_.influence(top=2))
    with pytest.raises(ValueError, match="fit.with_data"):
        again.posterior_.influence()
    fresh = clone(mix)
    with pytest.raises(NotFittedError):
        fresh.predict(X)
    assert fresh.get_params() == mix.get_params()


def test_weights_count_rows(two_groups):
    X = two_groups[:, None]
    twice = lrvb.NormalMixture(2).fit(np.repeat(X, 2, axis=0))
    weighted = lrvb.NormalMixture(2).fit(X, sample_weight=np.full(len(X), 2.0))
    assert weighted.means_ == pytest.approx(twice.means_, rel=1e-7) and weighted.means_sd_ == pytest.approx(twice.means_sd_, rel=1e-6)
    assert not hasattr(weighted, "partial_fit")


def test_random_state_is_a_seed(two_groups):
    X = two_groups[:, None]
    fits = [lrvb.NormalMixture(2, random_state=np.random.RandomState(5)).fit(X) for _ in range(2)]
    assert fits[0].posterior_.to_json() == fits[1].posterior_.to_json()


def test_linear_regression(two_groups):
    random = np.random.default_rng(9)
    X = pd.DataFrame(random.normal(size=(200, 3)), columns=["a", "b", "y"])
    y = 1.0 + X.to_numpy() @ [2.0, 0.0, -1.0] + random.normal(0, 0.5, 200)
    model = lrvb.LinearRegression().fit(X, y)
    design = np.column_stack([np.ones(200), X.to_numpy()])
    # Least squares: the prior is weak, and says next to nothing beside 200 rows.
    expected, residual, *_ = np.linalg.lstsq(design, y, rcond=None)
    sds = np.sqrt(np.diag(np.linalg.inv(design.T @ design)) * residual[0] / 196)
    assert model.coef_ == pytest.approx(expected[1:], abs=0.01) and model.intercept_ == pytest.approx(expected[0], abs=0.01)
    assert model.coef_sd_ == pytest.approx(sds[1:], rel=0.05) and model.sigma_ == pytest.approx(0.5, abs=0.06)
    mean, sd = model.predict(X, return_std=True)
    assert model.score(X, y) > 0.9 and sd.min() > 0.9 * model.sigma_ and mean.shape == (200,)
    assert model.posterior_.summary("beta").index.tolist() == ["beta[a]", "beta[b]", "beta[y]"]
    weighted = lrvb.LinearRegression().fit(X, y, sample_weight=np.full(200, 2.0))
    twice = lrvb.LinearRegression().fit(np.repeat(X.to_numpy(), 2, axis=0), np.repeat(y, 2))
    assert weighted.coef_sd_ == pytest.approx(twice.coef_sd_, rel=1e-6)
    odd = X.rename(columns={"a": "sample_weight", "b": "y_"})
    assert (lrvb.LinearRegression().fit(odd, y, sample_weight=np.full(200, 2.0)).coef_ == weighted.coef_).all()
    assert lrvb.LinearRegression(fit_intercept=False).fit(X, y).intercept_ == 0.0
