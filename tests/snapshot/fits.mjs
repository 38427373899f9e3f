// What the snapshot fits, and what it asks of each fit. DATA is the folder data/, MADE that of data.mjs.
//
//   ask: leverage, influence, sensitivity, priors (sensitivity of sds, by refits), loo, robust, predict, covariance,
//        psis (loo by draws), importance, integration or nuts (a check by this method), model (a check of the model),
//        groups (the effects of groups), nogroups and link (two more predictions)

const words = (text) => text.split(/\s+/).filter((word) => word !== "");
const kMixture = "leverage influence sensitivity robust predict covariance loo";
const kRegression = "leverage influence sensitivity robust predict covariance loo";

const fits = [];
const add = (kind) => (name, data, rest, ask = "", options = "") =>
  fits.push({ name, data, command: [...words(kind), data, ...rest, ...words(options)], ask: new Set(words(ask)) });

const mixture = add("fit mixture");
const faithful = "DATA/old_faithful.csv";
mixture("mixture_paper", faithful, words("-c eruptions -k 2 --prior paper"), `${kMixture} importance psis model priors`);
mixture("mixture_three_overlapping", "DATA/mixture3.csv", words("-k 3 --prior paper"), `${kMixture} importance`);
mixture("mixture_full", faithful, words("-k 2"), `${kMixture} importance psis model`);
mixture("mixture_diagonal", faithful, words("-k 2 --covariance diagonal"), `${kMixture} importance`);
mixture("mixture_iris_full", "DATA/iris.csv", words("-c 1-4 -k 3"), kMixture);
mixture("mixture_iris_diagonal", "DATA/iris.csv", words("-c 1-4 -k 3 --covariance diagonal"), kMixture);
mixture("mixture_wine_diagonal", "DATA/wine.csv", words("-c 1-8 -k 3 --covariance diagonal"), "influence predict loo");
mixture("mixture_digits", "DATA/digits.csv", words("-c 3,4,5,10 -k 4"), "predict");
mixture("mixture_one_component", faithful, words("-k 1"), `${kMixture} importance`);
mixture("mixture_range", "MADE/clusters.csv", words("-c a,b -k 1:3"), "loo predict");
mixture("mixture_weights", "MADE/clusters.csv", words("-c a,b,c -k 3 --weights w"), "leverage influence predict loo");
mixture("mixture_informed", faithful, words("-c eruptions -k 2 --prior-mean 3 --prior-variance 4 --prior-alpha 2 --prior-shape 3 --prior-rate 0.5"),
  "sensitivity priors importance");
mixture("mixture_wishart", faithful, words("-k 2 --prior-dof 6 --prior-inverse-scale 0.5 --prior-variance 50"), "sensitivity");
mixture("mixture_held", faithful, words("-c eruptions -k 2 --fix weights,precisions --at MADE/held.json"), "influence predict importance");
mixture("mixture_exact", faithful, words("-c eruptions -k 2 --exact"), "influence");
mixture("mixture_two_optima", "MADE/clusters.csv", words("-c b -k 3"), "influence");

const addRegression = add("fit regression");
const regression = (name, data, rest, ask, options) =>
  addRegression(name, data, rest, kPoint.has(name) ? ask : `${ask} integrated`, options);
// At the best values of their variance parameters; the others are integrated over them.
const kPoint = new Set(words(`gaussian_poly gaussian_offset student bernoulli_cloglog binomial_probit poisson_offset
  gaussian_intercepts student_correlated bernoulli_correlated poisson_crossed`));
const cars = "DATA/mtcars.csv";
const made = "MADE/grouped.csv";
const sleep = "DATA/sleepstudy.csv";
regression("gaussian_columns", cars, words("--response mpg -c wt,hp"), `${kRegression} priors integration psis model`);
regression("gaussian_paper", cars, words("--response mpg -c wt,hp --prior paper"), `${kRegression} importance`);
regression("gaussian_prior_numbers", cars, words("--response mpg -c wt,hp --prior-mean 0 --prior-variance 9 --prior-shape 2 --prior-rate 3"),
  `${kRegression} importance`);
regression("gaussian_paper_weights", made, words("--response y -c x,z --prior paper --weights w"), kRegression);
regression("gaussian_factor", cars, ["mpg ~ wt * factor(cyl)"], kRegression);
regression("gaussian_poly", cars, ["log(mpg) ~ poly(hp, 2) + scale(wt)"], kRegression);
regression("gaussian_no_intercept", cars, words("--response mpg -c wt,qsec --no-intercept"), kRegression);
regression("gaussian_priors", cars, ["mpg ~ wt + hp"], `${kRegression} priors`,
  "--prior=beta~normal(0,2) --prior=beta[wt]~normal(-3,1) --prior=sigma~exponential(0.2) --prior=intercept~normal(20,5)");
regression("gaussian_weights", made, ["y ~ x + z"], kRegression, "--weights w");
regression("gaussian_precision_weights", made, ["y ~ x + z"], kRegression, "--precision-weights precision");
regression("gaussian_offset", made, ["y ~ x + offset(z)"], kRegression);
regression("student", made, ["t ~ x + z"], `${kRegression} integration`, "--family student");
regression("bernoulli_logit", made, ["binary ~ x + z"], `${kRegression} importance model`, "--family bernoulli");
regression("bernoulli_probit", made, ["binary ~ x + z"], kRegression, "--family bernoulli --link probit");
regression("bernoulli_cloglog", made, ["binary ~ x"], kRegression, "--family bernoulli --link cloglog");
regression("binomial_logit", "DATA/cbpp.csv", ["cbind(incidence, size - incidence) ~ factor(period)"], kRegression, "--family binomial");
regression("binomial_probit", made, ["cbind(successes, trials - successes) ~ x"], kRegression, "--family binomial --link probit");
regression("binomial_cloglog", made, ["cbind(successes, trials - successes) ~ x"], kRegression, "--family binomial --link cloglog");
regression("binomial_share", made, ["share ~ x"], kRegression, "--family binomial --precision-weights trials");
regression("poisson_offset", made, ["count ~ x + offset(log(time))"], `${kRegression} importance model`, "--family poisson");

regression("gaussian_intercepts", sleep, ["Reaction ~ Days + (1 | Subject)"], `${kRegression} groups nogroups psis`);
regression("gaussian_correlated", sleep, ["Reaction ~ Days + (Days | Subject)"], `${kRegression} groups nogroups integration`);
regression("gaussian_independent", sleep, ["Reaction ~ Days + (Days || Subject)"], `${kRegression} groups`);
regression("gaussian_dyestuff", "DATA/dyestuff.csv", ["Yield ~ 1 + (1 | Batch)"], `${kRegression} groups model`);
regression("gaussian_group_priors", "DATA/dyestuff.csv", ["Yield ~ 1 + (1 | Batch)"], `${kRegression} groups`,
  "--prior=sd[Batch]~half_cauchy(25) --prior=tau~gamma(2,3000)");
regression("gaussian_lkj", sleep, ["Reaction ~ Days + (Days | Subject)"], "sensitivity",
  "--prior=cor[Subject]~lkj(1) --prior=sd[Subject]~half_t(3,30)");
regression("gaussian_nested", made, ["y ~ x + (1 | g/class)"], `${kRegression} groups`);
regression("gaussian_crossed", made, ["y ~ x + (1 | g) + (1 | h)"], `${kRegression} groups`);
regression("gaussian_group_weights", made, ["y ~ x + (1 | g)"], "leverage influence predict", "--weights w");
regression("gaussian_group_precision_weights", made, ["y ~ x + (1 | g)"], "leverage influence predict", "--precision-weights precision");
regression("student_intercepts", made, ["t ~ x + (1 | g)"], `${kRegression} groups`, "--family student");
regression("student_correlated", made, ["t ~ x + (x | g)"], "leverage influence groups", "--family student");
regression("bernoulli_intercepts", made, ["binary ~ x + (1 | g)"], `${kRegression} groups nogroups link`, "--family bernoulli");
regression("bernoulli_correlated", made, ["binary ~ x + (x | g)"], "influence groups", "--family bernoulli");
regression("binomial_herds", "DATA/cbpp.csv", ["cbind(incidence, size - incidence) ~ factor(period) + (1 | herd)"],
  `${kRegression} groups nogroups link integration`, "--family binomial");
regression("binomial_probit_groups", made, ["cbind(successes, trials - successes) ~ x + (x || g)"], "influence groups", "--family binomial --link probit");
regression("binomial_cloglog_groups", made, ["cbind(successes, trials - successes) ~ x + (1 | h)"], "influence groups", "--family binomial --link cloglog");
regression("poisson_subjects", "DATA/epil.csv", ["y ~ lbase * trt + lage + V4 + (1 | subject)"], `${kRegression} groups`, "--family poisson");
regression("poisson_correlated", made, ["count ~ x + offset(log(time)) + (x | g)"], "influence predict groups link", "--family poisson");
regression("poisson_crossed", made, ["count ~ x + offset(log(time)) + (1 | g) + (1 | h)"], "influence groups", "--family poisson");
regression("poisson_exact", made, ["count ~ x + (1 | g)"], "predict", "--family poisson --exact");

const bugs = add("fit model");
const model = (name, data, ask, options) => bugs(`bugs_${name}`, `MODELS/${name}.bug`, [data ?? `MODELS/${name}.json`], ask, options);
const kBugs = "influence sensitivity covariance loo";
model("pump", "DATA/pump.csv", `${kBugs} importance priors robust`);
model("schools", null, `${kBugs} importance priors`);
model("schools_sd", null, `${kBugs} importance`);
model("dyes", null, `${kBugs} leverage importance`);
model("growth", null, `${kBugs} leverage robust`);
model("growth_wishart", null, "sensitivity");
model("rats", null, "leverage influence", "--exact");
model("missing", null, "sensitivity importance");
model("iris_missing", null, "sensitivity");
model("crossed", null, "sensitivity leverage");
model("mtcars_regression", cars, `${kBugs} leverage robust`);
model("mtcars_student", cars, "sensitivity leverage nuts");
model("cbpp_beta", "DATA/cbpp.csv", `${kBugs} importance`);
model("cbpp_logit", null, "sensitivity influence");
model("seeds", null, "sensitivity");
model("salmonella", null, "sensitivity influence");
model("epil_log", null, "influence");
model("epil_gamma", null, "influence importance");
model("alligators", null, "sensitivity");
model("eyes", null, "sensitivity importance");
model("mixture3", "DATA/mixture3.csv", "sensitivity importance");
model("faithful_hmm", faithful, "sensitivity");
model("latent_classes", null, "sensitivity");
model("zero_inflated", null, "sensitivity importance");
model("coal", null, "sensitivity");
model("survival", null, "sensitivity importance");
model("occupancy", null, "sensitivity");
model("switching", cars, "sensitivity");
model("clinic", null, "");
bugs("bugs_growth_factorised", "MODELS/growth.bug", ["MODELS/growth.json"], "sensitivity", "--factorised");

// Files of one command are asked with the data; a model's data stand behind it.
for (const fit of fits) {
  fit.asked = fit.command[1] === "model" ? fit.command.slice(3).filter((word) => /^(DATA|MODELS|MADE)\//.test(word)) : [fit.data];
}
export { fits };
