//! The real binary on a machine that fails it: `disk` writes that fail, `flips` bits that change in
//! its files, `clock` a wall clock that jumps. It may refuse, wait and report, and is never wrong.

mod clock;
mod disk;
mod flips;
mod shim;

use self::shim::Shim;
use crate::chaos::World;
use crate::dice::Dice;

/// Starts servers of which the first works on a machine that can be made to fail.
async fn failing_world(dice: &mut Dice) -> (World, Shim) {
    let mut shim = None;
    let world = World::start(|folder, server| {
        let made = Shim::new(folder, dice);
        let server = made.around(server);
        shim = Some(made);
        server
    });
    let world = world.await;
    (world, shim.unwrap())
}
