//! Determines which tasks may start. Each task counts the inputs it still lacks; finishing a task touches
//! only those that wait on it, so there is no scan of all tasks.

use std::collections::BTreeSet;

use crate::requests::spec::{Spec, Workflow};

/// The order of a run's tasks, which are identified by their positions.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Graph {
    nodes: Vec<Node>,
    /// The tasks with all inputs there, not yet started.
    ready: BTreeSet<usize>,
    /// The tasks that can never start, not yet skipped.
    doomed: BTreeSet<usize>,
    /// The number of tasks not yet over.
    left: usize,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Node {
    /// The number of inputs it still lacks.
    unmet: usize,
    /// The tasks that wait on it.
    dependents: Vec<usize>,
    /// Whether it has ended or been skipped.
    over: bool,
}

impl Graph {
    /// Creates a graph in which task `i` waits on `inputs[i]`; positions beyond the list are ignored.
    pub(crate) fn new(inputs: &[Vec<usize>]) -> Graph {
        let mut nodes: Vec<Node> = inputs.iter().map(|_| Node::default()).collect();
        for (task, inputs) in inputs.iter().enumerate() {
            let distinct: BTreeSet<usize> = inputs.iter().copied().filter(|input| *input < nodes.len()).collect();
            if let Some(node) = nodes.get_mut(task) {
                node.unmet = distinct.len();
            }
            for input in distinct {
                if let Some(node) = nodes.get_mut(input) {
                    node.dependents.push(task);
                }
            }
        }
        let ready = nodes.iter().enumerate().filter(|(_, node)| node.unmet == 0).map(|(task, _)| task).collect();
        Graph { left: nodes.len(), nodes, ready, doomed: BTreeSet::new() }
    }

    /// Creates the graph of a run's tasks.
    pub(crate) fn of(spec: &Spec) -> Graph {
        match spec.workflow {
            Workflow::Hierarchical => Graph::last_of(spec.tasks.len()),
            Workflow::Sequential | Workflow::Parallel => Graph::new(&spec.order()),
        }
    }

    /// Creates a graph of `tasks` of which only the last one is run.
    pub(crate) fn last_of(tasks: usize) -> Graph {
        let nodes = (0..tasks).map(|_| Node::default()).collect();
        Graph { nodes, ready: tasks.checked_sub(1).into_iter().collect(), doomed: BTreeSet::new(), left: 1 }
    }

    /// Returns the tasks that may start now.
    pub(crate) fn ready(&self) -> impl Iterator<Item = usize> {
        self.ready.iter().copied()
    }

    /// Returns the tasks that can never start because an input failed.
    pub(crate) fn doomed(&self) -> impl Iterator<Item = usize> {
        self.doomed.iter().copied()
    }

    /// The number of tasks not yet over.
    pub(crate) fn left(&self) -> usize {
        self.left
    }

    pub(crate) fn start(&mut self, task: usize) {
        self.ready.remove(&task);
    }

    /// Marks a task as completed: those that waited only on it are ready.
    pub(crate) fn finish(&mut self, task: usize) {
        self.left = self.left.saturating_sub(1);
        for dependent in self.dependents(task) {
            if let Some(node) = self.nodes.get_mut(dependent) {
                node.unmet = node.unmet.saturating_sub(1);
                if node.unmet == 0 && !self.doomed.contains(&dependent) {
                    self.ready.insert(dependent);
                }
            }
        }
    }

    /// Marks a task as failed: neither it nor those that wait on it will have an output.
    pub(crate) fn fail(&mut self, task: usize) {
        self.left = self.left.saturating_sub(1);
        self.doomed.remove(&task);
        self.ready.remove(&task);
        if let Some(node) = self.nodes.get_mut(task) {
            node.over = true;
        }
        let waiting =
            self.dependents(task).into_iter().filter(|task| self.nodes.get(*task).is_some_and(|node| !node.over));
        self.doomed.extend(waiting.collect::<Vec<_>>());
    }

    fn dependents(&self, task: usize) -> Vec<usize> {
        self.nodes.get(task).map(|node| node.dependents.clone()).unwrap_or_default()
    }
}

/// Returns the first cycle among the tasks, as positions, each waiting on the next and the start repeated
/// at the end; none when an order exists.
pub(crate) fn cycle(inputs: &[Vec<usize>]) -> Option<Vec<usize>> {
    let mut graph = Graph::new(inputs);
    let mut done = vec![false; inputs.len()];
    while let Some(task) = graph.ready.pop_first() {
        if let Some(done) = done.get_mut(task) {
            *done = true;
        }
        graph.finish(task);
    }
    let stuck = |task: &usize| !done.get(*task).copied().unwrap_or(true);
    let mut path = vec![(0..inputs.len()).find(stuck)?];
    // Every stuck task waits on a stuck task, so following one input each must
    // come back to a task already on the path.
    while let Some(last) = path.last() {
        let next = inputs.get(*last)?.iter().copied().find(stuck)?;
        if let Some(start) = path.iter().position(|task| *task == next) {
            let mut circle = path.split_off(start);
            circle.push(next);
            return Some(circle);
        }
        path.push(next);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finishing_a_task_readies_those_that_waited_only_on_it() {
        let mut graph = Graph::new(&[vec![], vec![0], vec![0, 1], vec![0, 0]]);
        assert_eq!(graph.ready().collect::<Vec<_>>(), [0]);
        graph.start(0);
        graph.finish(0);
        assert_eq!(graph.ready().collect::<Vec<_>>(), [1, 3]);
        graph.start(1);
        graph.finish(1);
        assert_eq!((graph.ready().collect::<Vec<_>>(), graph.left()), (vec![2, 3], 2));
    }

    #[test]
    fn a_failed_task_dooms_what_waits_on_it_step_by_step() {
        let mut graph = Graph::new(&[vec![], vec![0], vec![1], vec![]]);
        graph.start(0);
        graph.fail(0);
        assert_eq!(graph.doomed().collect::<Vec<_>>(), [1]);
        graph.fail(1);
        graph.fail(2);
        assert_eq!((graph.left(), graph.doomed().count()), (1, 0));
        let mut graph = Graph::new(&[vec![], vec![], vec![0, 1]]);
        graph.fail(0);
        graph.fail(2);
        graph.fail(1);
        assert_eq!((graph.left(), graph.doomed().count()), (0, 0), "what was skipped is not skipped again");
    }

    #[test]
    fn a_circle_is_named_from_start_to_start() {
        assert_eq!(cycle(&[vec![], vec![2], vec![3, 0], vec![1]]), Some(vec![1, 2, 3, 1]));
        assert_eq!(cycle(&[vec![0]]), Some(vec![0, 0]));
        assert_eq!(cycle(&[vec![], vec![0], vec![0, 1]]), None);
    }
}
