//! One test binary, through the front door: real sockets, scripted model.
