//! Tasks that are skipped, repeated or fanned out together.

use consort_core::branch::OnMaxRounds;
use consort_core::draft;

/// Tasks of an ensemble, by their names, that are skipped, repeated or fanned out together. The name of the
/// group stands for the output of its last task. In a later round a task reads those after it as they were
/// in the round before.
///
/// ```
/// use consort::{Ensemble, Group, Model, OnMaxRounds, Status, Task};
///
/// # #[tokio::main]
/// # async fn main() -> Result<(), consort::Error> {
/// let draft = Task::builder("Write a slogan").name("draft").context("verdict");
/// let verdict = Task::builder("Judge the slogan").name("verdict").context("draft");
/// let group = Group::new("slogan", ["draft", "verdict"])
///     .repeat_until("outputs.verdict.contains('good') || round == 1")
///     .max_rounds(3)
///     .on_max_rounds(OnMaxRounds::Accept);
/// let ensemble = Ensemble::builder().model("demo", Model::demo()).tasks([draft, verdict]).group(group).build()?;
/// assert_eq!(ensemble.start(()).await?.finished().await?.status, Status::Completed);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Group(pub(crate) draft::Group);

impl Group {
    /// Creates a group of these tasks, in this order.
    pub fn new<'a>(name: &str, tasks: impl IntoIterator<Item = &'a str>) -> Group {
        let tasks = tasks.into_iter().map(str::to_owned).collect();
        Group(draft::Group { name: name.to_owned(), tasks, ..draft::Group::default() })
    }

    /// Does them only under a condition in CEL.
    #[must_use]
    pub fn when(mut self, condition: &str) -> Group {
        self.0.when = Some(condition.to_owned());
        self
    }

    /// Does them once for each item of a list in CEL.
    #[must_use]
    pub fn for_each(mut self, list: &str) -> Group {
        self.0.each.list = Some(list.to_owned());
        self
    }

    /// Limits the items of its list; 100 by default.
    #[must_use]
    pub fn max_items(mut self, max: u32) -> Group {
        self.0.each.max_items = Some(max);
        self
    }

    /// Limits the items under way at the same time; 8 by default.
    #[must_use]
    pub fn max_parallel(mut self, max: u32) -> Group {
        self.0.each.max_parallel = Some(max);
        self
    }

    /// Repeats them until a condition in CEL holds.
    #[must_use]
    pub fn repeat_until(mut self, condition: &str) -> Group {
        self.0.repeat_until = Some(condition.to_owned());
        self
    }

    /// Limits the rounds; 5 by default.
    #[must_use]
    pub fn max_rounds(mut self, max: u32) -> Group {
        self.0.max_rounds = Some(max);
        self
    }

    /// Sets the end of the group when the condition is still false after the last round; by default the tasks fail.
    #[must_use]
    pub fn on_max_rounds(mut self, rule: OnMaxRounds) -> Group {
        self.0.on_max_rounds = Some(rule);
        self
    }
}
