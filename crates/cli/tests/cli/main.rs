//! The real binary, each time in a folder of its own: `local` without a server, `serve` as a server, `beside` in the
//! folder of one, `remote` as a client of one, `steer` what the client can do to a run, `top` the whole terminal, `chat`
//! a conversation, `typing` its prompt, `hotel` servers that use each other, `hostile` what would steer a terminal,
//! `half_sent` silent connections, `growth` its memory, `chaos` a server killed, `faults` a machine that fails it, `guide` the
//! documentation, `install` `make install`, `store` the data folder, `first_edition` and `second_edition` earlier ones,
//! `moving` copies, `nodes`, `cluster` and `shared` nodes, `keys` owners, `ids` ids, `models` its test, `code` programs.

#[cfg(test)]
mod attachments;
#[cfg(test)]
mod beside;
#[cfg(test)]
mod binary;
#[cfg(test)]
mod chaos;
#[cfg(test)]
mod chat;
#[cfg(test)]
mod cluster;
#[cfg(test)]
mod code;
#[cfg(test)]
mod crowd;
#[cfg(test)]
mod dice;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod faults;
#[cfg(test)]
mod first_edition;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod growth;
#[cfg(test)]
mod guide;
#[cfg(test)]
mod half_sent;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod hotel;
#[cfg(test)]
mod http_tool;
#[cfg(test)]
mod ids;
#[cfg(test)]
mod install;
#[cfg(test)]
mod keys;
#[cfg(test)]
mod local;
#[cfg(test)]
mod model;
#[cfg(test)]
mod model_options;
#[cfg(test)]
mod models;
#[cfg(test)]
mod moving;
#[cfg(test)]
mod nodes;
#[cfg(test)]
mod outside;
#[cfg(test)]
mod ports;
#[cfg(test)]
mod remote;
#[cfg(test)]
mod requests;
#[cfg(test)]
mod schedules;
#[cfg(test)]
mod second_edition;
#[cfg(test)]
mod serve;
#[cfg(test)]
mod served;
#[cfg(test)]
mod shared;
#[cfg(test)]
mod slow_model;
#[cfg(test)]
mod steer;
#[cfg(test)]
mod store;
#[cfg(test)]
mod terminal;
#[cfg(test)]
mod threads;
#[cfg(test)]
mod threats;
#[cfg(test)]
mod top;
#[cfg(test)]
mod trouble;
#[cfg(test)]
mod typing;
#[cfg(test)]
mod victim;
#[cfg(test)]
mod widths;
#[cfg(test)]
mod workflows;
