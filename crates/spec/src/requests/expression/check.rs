//! The static check of an expression: how large it may be, which functions it may call, and which names it
//! may use where it stands.

use cel::IdedExpr;
use cel::common::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr, LiteralValue, operators};
use regex_automata::nfa::thompson;

use super::{EXPRESSION_DEPTH_MAX, EXPRESSION_NODES_MAX, Names};
use crate::requests::bounds::PATTERN_BYTES_MAX;

/// The names of the language's types, which `type(x)` is compared with.
const TYPES: [&str; 9] = ["bool", "double", "int", "list", "map", "null_type", "string", "type", "uint"];
/// The functions that may be called, beside operators.
const FUNCTIONS: [&str; 11] =
    ["bool", "contains", "double", "endsWith", "int", "matches", "size", "startsWith", "string", "type", "uint"];
/// The operators; the last one is written by macros only.
const OPERATORS: [&str; 19] = [
    operators::CONDITIONAL,
    operators::LOGICAL_AND,
    operators::LOGICAL_OR,
    operators::LOGICAL_NOT,
    operators::SUBSTRACT,
    operators::ADD,
    operators::MULTIPLY,
    operators::DIVIDE,
    operators::MODULO,
    operators::EQUALS,
    operators::NOT_EQUALS,
    operators::GREATER_EQUALS,
    operators::LESS_EQUALS,
    operators::GREATER,
    operators::LESS,
    operators::NEGATE,
    operators::INDEX,
    operators::IN,
    operators::NOT_STRICTLY_FALSE,
];

/// The variables that exist where an expression stands, beside `outputs` and `inputs`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scope {
    /// Whether there is an `item` with its `index`.
    pub(crate) item: bool,
    /// Whether there is a `round`.
    pub(crate) round: bool,
    /// Whether it stands in a hook: then there are `body` and `headers`, and nothing else.
    pub(crate) delivery: bool,
}

/// Returns the names that an expression uses, or the first mistake in it.
pub(super) fn names(expr: &IdedExpr, scope: Scope) -> Result<Names, String> {
    let mut walk = Walk { scope, names: Names::default(), nodes: 0, depth: 0, bound: Vec::new(), looped: false };
    walk.expr(expr)?;
    Ok(walk.names)
}

struct Walk {
    scope: Scope,
    names: Names,
    nodes: usize,
    depth: usize,
    /// The variables of the comprehension that is being walked.
    bound: Vec<String>,
    /// Whether the body of a comprehension is being walked.
    looped: bool,
}

impl Walk {
    fn expr(&mut self, expr: &IdedExpr) -> Result<(), String> {
        self.nodes += 1;
        self.depth += 1;
        if self.nodes > EXPRESSION_NODES_MAX {
            return Err(format!("must have at most {EXPRESSION_NODES_MAX} nodes; compute a part of it in a task"));
        }
        if self.depth > EXPRESSION_DEPTH_MAX {
            return Err(too_deep());
        }
        match &expr.expr {
            Expr::Literal(LiteralValue::Bytes(_)) => return Err("bytes have no form in JSON".to_owned()),
            Expr::Literal(_) => {}
            Expr::Ident(name) => self.ident(name)?,
            Expr::Select(select) => match self.root(&select.operand) {
                Some(Root::Outputs) => self.output(&select.field),
                Some(Root::Inputs) => self.input(&select.field, select.test),
                None => self.expr(&select.operand)?,
            },
            Expr::Call(call) => self.call(call)?,
            Expr::List(list) => list.elements.iter().try_for_each(|element| self.expr(element))?,
            Expr::Map(map) => {
                for entry in &map.entries {
                    if let EntryExpr::MapEntry(entry) = &entry.expr {
                        self.expr(&entry.key)?;
                        self.expr(&entry.value)?;
                    }
                }
            }
            Expr::Comprehension(comprehension) => self.comprehension(comprehension)?,
            Expr::Struct(_) | Expr::Unspecified => return Err("objects are written as {'key': value}".to_owned()),
        }
        self.depth -= 1;
        Ok(())
    }

    /// Returns what a name stands for when something is selected from it.
    fn root(&self, operand: &IdedExpr) -> Option<Root> {
        let Expr::Ident(name) = &operand.expr else { return None };
        match name.as_str() {
            _ if self.bound.contains(name) || self.scope.delivery => None,
            "outputs" => Some(Root::Outputs),
            "inputs" => Some(Root::Inputs),
            _ => None,
        }
    }

    fn output(&mut self, task: &str) {
        self.nodes += 1;
        self.names.outputs.insert(task.to_owned());
    }

    /// Notes an input; one that is only asked for with `has` may be missing.
    fn input(&mut self, name: &str, is_test: bool) {
        self.nodes += 1;
        if !is_test {
            self.names.inputs.insert(name.to_owned());
        }
    }

    fn ident(&self, name: &str) -> Result<(), String> {
        let has = |known: bool, where_else: &str| {
            if known { Ok(()) } else { Err(format!("`{name}` is known only {where_else}")) }
        };
        match name {
            _ if self.bound.iter().any(|bound| bound == name) => Ok(()),
            "body" | "headers" if self.scope.delivery => Ok(()),
            "inputs" if !self.scope.delivery => Ok(()),
            "outputs" if !self.scope.delivery => {
                Err("`outputs` is followed by the name of a task: outputs.name or outputs['name']".to_owned())
            }
            "item" | "index" => has(self.scope.item, "to a group with `for_each`"),
            "round" => has(self.scope.round, "to a group with `repeat_until`"),
            _ if TYPES.contains(&name) => Ok(()),
            _ => Err(format!("unknown name `{name}`. Available: [{}]", self.known().join(", "))),
        }
    }

    fn known(&self) -> Vec<&'static str> {
        if self.scope.delivery {
            return vec!["body", "headers"];
        }
        let more = [("item", self.scope.item), ("index", self.scope.item), ("round", self.scope.round)];
        ["outputs", "inputs"].into_iter().chain(more.into_iter().filter(|(_, is)| *is).map(|(name, _)| name)).collect()
    }

    fn call(&mut self, call: &CallExpr) -> Result<(), String> {
        let name = call.func_name.as_str();
        if let (operators::INDEX, [from, key]) = (name, call.args.as_slice())
            && let Some(root) = self.root(from)
        {
            return self.indexed(root, key);
        }
        if !OPERATORS.contains(&name) && !FUNCTIONS.contains(&name) {
            return Err(format!("unknown function `{name}`. Available: [{}]", FUNCTIONS.join(", ")));
        }
        if name == "matches" {
            self.pattern(call)?;
        }
        call.target.iter().try_for_each(|target| self.expr(target))?;
        call.args.iter().try_for_each(|arg| self.expr(arg))
    }

    fn indexed(&mut self, root: Root, key: &IdedExpr) -> Result<(), String> {
        match (&key.expr, root) {
            (Expr::Literal(LiteralValue::String(name)), Root::Outputs) => self.output(name.inner()),
            (Expr::Literal(LiteralValue::String(name)), Root::Inputs) => self.input(name.inner(), false),
            (_, Root::Outputs) => return Err("the name of a task is written out: outputs['name']".to_owned()),
            (_, Root::Inputs) => return self.expr(key),
        }
        self.nodes += 1;
        Ok(())
    }

    /// Checks that a pattern is written out and compiled once: compiling costs more than anything else.
    fn pattern(&self, call: &CallExpr) -> Result<(), String> {
        let pattern = match call.args.last().map(|arg| &arg.expr) {
            Some(Expr::Literal(LiteralValue::String(pattern))) if !self.looped => pattern.inner(),
            _ => return Err("`matches` takes a pattern that is written out, and not for each element".to_owned()),
        };
        let limits = thompson::Config::new().nfa_size_limit(Some(PATTERN_BYTES_MAX));
        match thompson::Compiler::new().configure(limits).build(pattern) {
            Ok(_) => Ok(()),
            Err(error) if error.size_limit().is_some() => {
                Err(format!("the pattern takes more than {PATTERN_BYTES_MAX} bytes when compiled"))
            }
            Err(_) => Err("the pattern is no regular expression without look-around and back-references".to_owned()),
        }
    }

    fn comprehension(&mut self, comprehension: &ComprehensionExpr) -> Result<(), String> {
        self.expr(&comprehension.iter_range)?;
        if self.looped {
            return Err("one comprehension cannot stand within another".to_owned());
        }
        self.expr(&comprehension.accu_init)?;
        let variables = [&comprehension.iter_var, &comprehension.accu_var].into_iter().chain(&comprehension.iter_var2);
        self.bound = variables.cloned().collect();
        self.looped = true;
        for part in [&comprehension.loop_cond, &comprehension.loop_step, &comprehension.result] {
            self.expr(part)?;
        }
        self.looped = false;
        self.bound.clear();
        Ok(())
    }
}

#[derive(Clone, Copy)]
enum Root {
    Outputs,
    Inputs,
}

/// Returns the mistake of an expression that is nested too deeply.
pub(super) fn too_deep() -> String {
    format!("must be nested at most {EXPRESSION_DEPTH_MAX} levels deep")
}
