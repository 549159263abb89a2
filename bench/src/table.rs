//! The measurements and their targets.

use std::fmt;

/// One target and its measurement.
struct Line {
    what: String,
    measured: String,
    value: f64,
    wanted: f64,
    unit: &'static str,
}

/// All targets.
#[derive(Default)]
pub(crate) struct Table(Vec<Line>);

impl Table {
    /// Adds a target that is met by `value` up to `wanted`, both in `unit`.
    pub(crate) fn add(&mut self, what: &str, measured: String, (value, wanted): (f64, f64), unit: &'static str) {
        self.0.push(Line { what: what.to_owned(), measured, value, wanted, unit });
    }

    /// Returns the number of targets that were missed.
    pub(crate) fn missed(&self) -> usize {
        self.0.iter().filter(|line| !line.is_met()).count()
    }
}

impl Line {
    fn is_met(&self) -> bool {
        self.value <= self.wanted
    }
}

impl fmt::Display for Table {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "{:<44} {:<34} {:>10} {:>10}", "what", "measured", "result", "wanted")?;
        for line in &self.0 {
            let Line { what, measured, value, wanted, unit } = line;
            let value = format!("{value:.2}{unit}");
            let wanted = format!("<={wanted}{unit}");
            let verdict = if line.is_met() { "ok" } else { "NOT OK" };
            writeln!(out, "{what:<44} {measured:<34} {value:>10} {wanted:>10}  {verdict}")?;
        }
        match self.missed() {
            0 => write!(out, "every target is met"),
            missed => write!(out, "{missed} of {} targets are MISSED", self.0.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missed_target_is_counted_and_said() {
        let mut table = Table::default();
        table.add("good", "1 of 1".to_owned(), (1.0, 1.0), "x");
        assert!(table.to_string().ends_with("every target is met"));
        table.add("bad", "3 of 2".to_owned(), (1.5, 1.0), "x");
        table.add("not measured", String::new(), (f64::NAN, 1.0), "x");
        assert_eq!(table.missed(), 2);
        assert!(table.to_string().contains("NOT OK"));
        assert!(table.to_string().ends_with("2 of 3 targets are MISSED"));
    }
}
