//! The real binary, each time in a folder of its own: `local` without a server, `serve` as
//! a server, `remote` as a client of one, `steer` what the client can do to a run, `chat` a
//! conversation, `typing` what is done at its prompt, `hotel` servers that use each other,
//! `hostile` models and servers that would steer a terminal, `guide` what the documentation
//! says, `install` `make install`, `store` the folder that everything is kept in,
//! `first_edition` and `second_edition` those of earlier versions, `keys` keys and owners.

#[cfg(test)]
mod binary;
#[cfg(test)]
mod chat;
#[cfg(test)]
mod crowd;
#[cfg(test)]
mod first_edition;
#[cfg(test)]
mod guide;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod hotel;
#[cfg(test)]
mod http_tool;
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
mod outside;
#[cfg(test)]
mod remote;
#[cfg(test)]
mod second_edition;
#[cfg(test)]
mod serve;
#[cfg(test)]
mod served;
#[cfg(test)]
mod slow_model;
#[cfg(test)]
mod steer;
#[cfg(test)]
mod store;
#[cfg(test)]
mod terminal;
#[cfg(test)]
mod typing;
