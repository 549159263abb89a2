//! Scores short texts against a query, by their words alone.

use std::collections::HashMap;

/// The constant that decides how quickly further mentions of a word stop mattering.
const SATURATION: f64 = 1.2;

/// The minimum number of letters of a word that counts.
const LONG: usize = 2;

/// Returns a score for each text; 0 where it contains no word of the query. Words
/// that are rare among the texts count for more, and each further mention for less.
pub fn scores(texts: &[&str], query: &str) -> Vec<f64> {
    let bag = |text: &str| bag(text, LONG);
    let bags: Vec<HashMap<String, f64>> = texts.iter().map(|text| bag(text)).collect();
    let count = bags.len() as f64;
    let mut wanted: Vec<String> = bag(query).into_keys().collect();
    wanted.sort();
    let weight = |word: &String| {
        let holding = bags.iter().filter(|bag| bag.contains_key(word)).count() as f64;
        (1.0 + (count - holding + 0.5) / (holding + 0.5)).ln()
    };
    let weights: Vec<f64> = wanted.iter().map(weight).collect();
    let score = |bag: &HashMap<String, f64>| -> f64 {
        let mention = |(word, weight): (&String, &f64)| bag.get(word).map_or(0.0, |n| weight * n / (n + SATURATION));
        wanted.iter().zip(&weights).map(mention).sum()
    };
    bags.iter().map(score).collect()
}

/// Returns the share of words that two texts have in common, from 0 to 1.
pub fn likeness(one: &str, other: &str) -> f64 {
    let one = bag(one, 1);
    let other = bag(other, 1);
    let shared = one.keys().filter(|word| other.contains_key(*word)).count() as f64;
    let all = (one.len() + other.len()) as f64 - shared;
    if all == 0.0 { 0.0 } else { shared / all }
}

/// Returns the words of a text with at least this many letters, and the count of each.
fn bag(text: &str, letters: usize) -> HashMap<String, f64> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().count() >= letters);
    let mut bag = HashMap::new();
    for word in words {
        *bag.entry(word.to_lowercase()).or_insert(0.0) += 1.0;
    }
    bag
}
