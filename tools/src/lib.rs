//! The checks of `make check` that no published tool does for us.
//!
//! # Layout
//! - `source`: a Rust file as tokens and comments, each with its line
//! - `items`: the functions, traits and test module found in the tokens
//! - `sizes`: the limits on functions, files, traits, parameters and headers
//! - `spdx`: licence expressions, as in `MIT OR Apache-2.0`
//! - `licences`: every dependency's licence against the list in `deny.toml`

mod items;
pub mod licences;
pub mod sizes;
mod source;
mod spdx;
