//! Tests of the run as a state machine: its next steps, given its events.

#![allow(clippy::wildcard_enum_match_arm, reason = "tests look for one fact among many")]

mod answers;
mod behaviour;
mod branch_properties;
mod branches;
mod changed;
mod chats;
mod chores;
mod described;
mod edited;
mod flows;
mod inherited;
mod made_up;
mod model_options;
mod outputs;
mod properties;
mod recorded;
mod silence;
mod spans;
mod steering;
mod subtasks;
mod taint;
mod teams;
mod turns;
mod world;
