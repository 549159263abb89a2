//! The amount of measuring, and the evaluation of repeated measurements.

/// The amount of measuring.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// The number of measurements of each side, taken in turn with the others.
    pub(crate) rounds: usize,
    /// The number of three-task runs in one round.
    pub(crate) runs: usize,
    /// The number of measurements of each side's crowd of a thousand and of each wide run.
    pub(crate) large_rounds: usize,
}

impl Effort {
    /// Enough to quote the numbers.
    pub(crate) const FULL: Effort = Effort { rounds: 7, runs: 1600, large_rounds: 5 };
    /// Enough to see which way a change goes.
    pub(crate) const QUICK: Effort = Effort { rounds: 3, runs: 480, large_rounds: 1 };
}

/// Returns the median of the measurements; of an even number, the upper one of the two.
pub(crate) fn median(measured: impl IntoIterator<Item = f64>) -> f64 {
    let mut measured: Vec<f64> = measured.into_iter().collect();
    measured.sort_by(f64::total_cmp);
    measured.get(measured.len() / 2).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_ignores_the_order_and_one_outlier() {
        assert_eq!(median([3.0, 1.0, 900.0]), 3.0);
        assert!(median([]).is_nan());
    }
}
