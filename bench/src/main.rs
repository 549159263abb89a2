//! Measurements, as ratios to the bare cost of the same work.

fn main() {}
