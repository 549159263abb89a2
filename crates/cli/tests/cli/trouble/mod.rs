//! Three servers over one PostgreSQL, in trouble and under load, each test with a number of its own: servers that are killed
//! and stand still (`kills`), are cut off (`cuts`) and restarted (`rolling`); what they share (`limits`, the `line`,
//! `keys`, `talks`, `words`); a run that is deleted (`erased`) and a store that moves (`copies`).

mod clients;
mod copies;
mod cuts;
mod erased;
mod gate;
mod keys;
mod kills;
mod limits;
mod line;
mod outside;
mod rolling;
mod talks;
mod trio;
mod words;
