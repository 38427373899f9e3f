# Called by scripts/bench-lme4. What each time contains:
#
#   theirs     lmer, glmer or glmmTMB on a data frame that is in memory: estimates, standard errors of fixed effects
#   fit        the program from CSV to fit file at one point (--check never): reads, fits, sds and covariances of everything, writes
#   reading    the program with --show-priors: reads the file and codes the formula, and fits nothing
#   default    as 'fit' with what the program does by itself: the integral over the variance parameters, where it takes about a second
#
# Seconds of CPU, of all threads; 'wall' by the clock, which other work on the machine lengthens. ratio = theirs over
# (fit − reading): what the fit itself costs.

suppressPackageStartupMessages({
    library(lme4)
    library(glmmTMB)
})
program <- commandArgs(trailingOnly = TRUE)[1]
folder <- tempfile("bench")
invisible(dir.create(folder))
file <- file.path(folder, "data.csv")

run <- function(...) {
    measured <- file.path(folder, "time")
    status <- system2("/usr/bin/time", c("-o", measured, "-f", shQuote("%e %U %S %M"), program, ...), stdout = FALSE)
    if (status != 0) return(c(wall = NA, cpu = NA, megabytes = NA))
    numbers <- scan(text = tail(readLines(measured), 1), quiet = TRUE)
    c(wall = numbers[1], cpu = numbers[2] + numbers[3], megabytes = numbers[4] / 1024)
}

measure <- function(title, data, formula, family, theirs = NULL) {
    write.csv(data, file, row.names = FALSE, quote = FALSE)
    cat("\n", title, ": ", formula, "\n", sep = "")
    arguments <- c("fit", "regression", file, shQuote(formula), "--family", family)
    fit <- file.path(folder, "fit.json")
    reading <- run(arguments, "--show-priors")
    point <- run(arguments, "--check", "never", "--quiet", "-o", fit)
    ours <- list(reading = reading, fit = point, default = run(arguments, "--quiet", "-o", fit))
    for (name in names(ours)) {
        cat(sprintf("  lrvb %-10s %8.2f s CPU %8.2f s wall %7.0f MB\n", name, ours[[name]]["cpu"], ours[[name]]["wall"], ours[[name]]["megabytes"]))
    }
    own <- max(point["cpu"] - reading["cpu"], 0.005)
    for (name in names(theirs)) {
        time <- system.time(invisible(suppressMessages(suppressWarnings(summary(theirs[[name]](data))))))
        cpu <- time["user.self"] + time["sys.self"]
        cat(sprintf("  %-15s %8.2f s CPU %8.2f s wall   lrvb takes %.3f of it (%.3f from file to file, %.3f by default)\n", name, cpu, time["elapsed"],
                    own / cpu, point["cpu"] / cpu, ours$default["cpu"] / cpu))
    }
}

set.seed(16)

groups <- 2000
data <- data.frame(g = rep(seq_len(groups), each = 50), x = rnorm(1e5))
data$y <- 1 + 0.5 * data$x + rnorm(groups)[data$g] + rnorm(1e5)
measure("1e5 rows in 2,000 groups, gaussian", data, "y ~ x + (1 | g)", "gaussian", list(lme4 = function(data) lmer(y ~ x + (1 | g), data)))
measure("1e5 rows in 2,000 groups, gaussian", data, "y ~ x + (x | g)", "gaussian", list(lme4 = function(data) lmer(y ~ x + (x | g), data)))

data$y <- rbinom(1e5, 1, plogis(-0.5 + 0.5 * data$x + rnorm(groups)[data$g]))
measure("1e5 rows in 2,000 groups, Bernoulli", data, "y ~ x + (1 | g)", "bernoulli",
        list(glmmTMB = function(data) glmmTMB(y ~ x + (1 | g), data, family = binomial)))

rows <- 73000
data <- data.frame(g = sample(3000, rows, TRUE), h = sample(1000, rows, TRUE), x = rnorm(rows))
data$y <- 1 + 0.5 * data$x + rnorm(3000)[data$g] + rnorm(1000, sd = 0.5)[data$h] + rnorm(rows)
measure("73,000 rows, 3,000 × 1,000 crossed, gaussian", data, "y ~ x + (1 | g) + (1 | h)", "gaussian",
        list(lme4 = function(data) lmer(y ~ x + (1 | g) + (1 | h), data)))

groups <- 1e5
data <- data.frame(g = rep(seq_len(groups), each = 10), x = rnorm(1e6))
data$y <- 1 + 0.5 * data$x + rnorm(groups)[data$g] + rnorm(groups, sd = 0.3)[data$g] * data$x + rnorm(1e6)
measure("1e6 rows in 100,000 groups, gaussian", data, "y ~ x + (1 + x | g)", "gaussian")
small <- data[data$g <= groups / 10, ]
measure("the same, 10,000 groups", small, "y ~ x + (1 + x | g)", "gaussian")

unlink(folder, recursive = TRUE)
