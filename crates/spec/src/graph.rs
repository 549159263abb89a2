//! Determines which nodes may start. Each node counts the inputs it still lacks; ending a node touches
//! only those that wait on it, so there is no scan of all nodes.

use std::collections::BTreeSet;

use crate::requests::branch::Needs;

/// Nodes, identified by their positions, that wait on each other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graph {
    nodes: Vec<Node>,
    /// The number of nodes not yet over.
    left: usize,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Node {
    /// The number of inputs it still lacks.
    unmet: usize,
    /// The nodes that wait on it.
    dependents: Vec<Edge>,
    /// Whether it is absent, over, or can never start.
    out: bool,
}

#[derive(Clone, Debug, PartialEq)]
struct Edge {
    to: usize,
    /// The task of this node that is waited on.
    task: usize,
    needs: Needs,
}

/// Something that a node waits on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wait {
    /// The node.
    pub on: usize,
    /// The task of that node.
    pub task: usize,
    /// The part of that task that is needed.
    pub needs: Needs,
}

/// The nodes that the end of another one moved.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Moved {
    /// Those that may start now.
    pub ready: Vec<usize>,
    /// Those that can never start, because an output they need does not exist.
    pub doomed: Vec<usize>,
}

impl Graph {
    /// Creates a graph in which node `i` waits on `waits[i]`; positions without waits have no node, and nodes
    /// beyond the list are ignored.
    pub fn new(waits: &[Option<Vec<Wait>>]) -> Graph {
        let absent = |waits: &Option<Vec<Wait>>| Node { out: waits.is_none(), ..Node::default() };
        let mut nodes: Vec<Node> = waits.iter().map(absent).collect();
        for (to, waits) in waits.iter().enumerate() {
            for Wait { on, task, needs } in waits.iter().flatten().copied() {
                let Some(node) = nodes.get_mut(on) else { continue };
                node.dependents.push(Edge { to, task, needs });
                if let Some(node) = nodes.get_mut(to) {
                    node.unmet += 1;
                }
            }
        }
        Graph { left: nodes.iter().filter(|node| !node.out).count(), nodes }
    }

    /// Returns the nodes that wait on nothing.
    pub fn first(&self) -> Vec<usize> {
        let first = self.nodes.iter().enumerate().filter(|(_, node)| node.unmet == 0 && !node.out);
        first.map(|(node, _)| node).collect()
    }

    /// Returns the number of nodes not yet over.
    pub fn left(&self) -> usize {
        self.left
    }

    /// Ends a node, some of whose tasks may be without an output.
    pub fn end(&mut self, node: usize, lost: impl Fn(usize) -> bool) -> Moved {
        self.left = self.left.saturating_sub(1);
        let mut moved = Moved::default();
        let Some(ended) = self.nodes.get_mut(node) else { return moved };
        ended.out = true;
        for Edge { to, task, needs } in std::mem::take(&mut ended.dependents) {
            let Some(waiting) = self.nodes.get_mut(to).filter(|node| !node.out) else { continue };
            if needs == Needs::Output && lost(task) {
                waiting.out = true;
                moved.doomed.push(to);
                continue;
            }
            waiting.unmet = waiting.unmet.saturating_sub(1);
            if waiting.unmet == 0 {
                moved.ready.push(to);
            }
        }
        moved
    }
}

/// Returns the first cycle among the tasks, as positions, each waiting on the next and the start repeated
/// at the end; none when an order exists.
pub fn cycle(inputs: &[Vec<usize>]) -> Option<Vec<usize>> {
    let wait = |on: &usize| Wait { on: *on, task: *on, needs: Needs::Output };
    let distinct = |inputs: &Vec<usize>| inputs.iter().collect::<BTreeSet<_>>().into_iter().map(wait).collect();
    let mut graph = Graph::new(&inputs.iter().map(|inputs| Some(distinct(inputs))).collect::<Vec<_>>());
    let mut done = vec![false; inputs.len()];
    let mut ready = graph.first();
    while let Some(task) = ready.pop() {
        if let Some(done) = done.get_mut(task) {
            *done = true;
        }
        ready.extend(graph.end(task, |_| false).ready);
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

    fn graph(inputs: &[&[usize]], needs: Needs) -> Graph {
        let wait = |on: &usize| Wait { on: *on, task: *on, needs };
        Graph::new(&inputs.iter().map(|inputs| Some(inputs.iter().map(wait).collect())).collect::<Vec<_>>())
    }

    #[test]
    fn ending_a_node_readies_those_that_waited_only_on_it() {
        let mut graph = graph(&[&[], &[0], &[0, 1], &[0]], Needs::Output);
        assert_eq!(graph.first(), [0]);
        assert_eq!(graph.end(0, |_| false).ready, [1, 3]);
        assert_eq!((graph.end(1, |_| false).ready, graph.left()), (vec![2], 2));
    }

    #[test]
    fn a_lost_output_dooms_what_reads_it_once_and_an_end_is_enough_for_the_others() {
        let mut reads = graph(&[&[], &[], &[0, 1], &[2]], Needs::Output);
        assert_eq!(reads.end(0, |_| true).doomed, [2]);
        assert_eq!(reads.end(1, |_| true), Moved::default(), "what is doomed is not doomed again");
        assert_eq!((reads.end(2, |_| true).doomed, reads.left()), (vec![3], 1));
        let mut names = graph(&[&[], &[0]], Needs::End);
        assert_eq!(names.end(0, |_| true), Moved { ready: vec![1], doomed: Vec::new() });
    }

    #[test]
    fn a_circle_is_named_from_start_to_start() {
        assert_eq!(cycle(&[vec![], vec![2], vec![3, 0], vec![1]]), Some(vec![1, 2, 3, 1]));
        assert_eq!(cycle(&[vec![0]]), Some(vec![0, 0]));
        assert_eq!(cycle(&[vec![], vec![0], vec![0, 1]]), None);
    }
}
