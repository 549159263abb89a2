//! The work that evaluating an expression takes at most, computed from the sizes of its values before
//! anything is evaluated: an evaluation cannot be interrupted, so it is not begun when it may be too long.

use std::collections::BTreeMap;

use cel::IdedExpr;
use cel::common::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr, LiteralValue, operators};
use serde_json::Value;

use super::{ELEMENTS_MAX, RESULT_BYTES_MAX, WORK_MAX};

/// The number of bytes that a value takes beside its text.
const NODE_BYTES: u64 = 8;
/// The number of times a text is read when a pattern is matched, at most.
const MATCHING: u64 = 100;

/// The size of a value, at most.
#[derive(Clone, Copy, Debug, Default)]
struct Size {
    bytes: u64,
    /// The number of elements of its longest list or object, at any depth.
    elements: u64,
}

impl Size {
    const SCALAR: Size = Size { bytes: NODE_BYTES, elements: 0 };

    fn and(self, other: Size) -> Size {
        let elements = self.elements.saturating_add(other.elements);
        Size { bytes: self.bytes.saturating_add(other.bytes), elements }
    }

    fn or(self, other: Size) -> Size {
        Size { bytes: self.bytes.max(other.bytes), elements: self.elements.max(other.elements) }
    }
}

/// Checks that an expression takes a bounded amount of work with these values.
pub(super) fn check(expr: &IdedExpr, values: &BTreeMap<&'static str, Value>) -> Result<(), String> {
    let mut sizer = Sizer { values, work: 0, bound: BTreeMap::new() };
    let result = sizer.expr(expr)?;
    sizer.charge(0)?;
    if result.bytes > RESULT_BYTES_MAX as u64 {
        return Err(format!("the result may be larger than {RESULT_BYTES_MAX} bytes"));
    }
    Ok(())
}

struct Sizer<'a> {
    values: &'a BTreeMap<&'static str, Value>,
    /// The number of bytes touched.
    work: u64,
    /// The variables of the comprehension that is being measured.
    bound: BTreeMap<String, Size>,
}

impl Sizer<'_> {
    fn charge(&mut self, bytes: u64) -> Result<(), String> {
        self.work = self.work.saturating_add(bytes);
        if self.work > WORK_MAX {
            Err("evaluating it with these values would take too long".to_owned())
        } else {
            Ok(())
        }
    }

    fn expr(&mut self, expr: &IdedExpr) -> Result<Size, String> {
        self.charge(NODE_BYTES)?;
        if let Some(value) = known(expr, self.values, &self.bound) {
            return self.measure(value);
        }
        match &expr.expr {
            Expr::Literal(LiteralValue::String(text)) => Ok(text_size(text.inner())),
            Expr::Ident(name) => Ok(self.bound.get(name).copied().unwrap_or(Size::SCALAR)),
            Expr::Select(select) => self.expr(&select.operand),
            Expr::Call(call) => self.call(call),
            Expr::List(list) => self.all(&list.elements, list.elements.len()),
            Expr::Map(map) => {
                let mut size = Size { bytes: NODE_BYTES, elements: map.entries.len() as u64 };
                for entry in &map.entries {
                    if let EntryExpr::MapEntry(entry) = &entry.expr {
                        size = size.and(self.expr(&entry.key)?).and(self.expr(&entry.value)?);
                    }
                }
                Ok(size)
            }
            Expr::Comprehension(comprehension) => self.comprehension(comprehension),
            Expr::Literal(_) | Expr::Struct(_) | Expr::Unspecified => Ok(Size::SCALAR),
        }
    }

    /// Measures a value that is known; reading it is work too.
    fn measure(&mut self, value: &Value) -> Result<Size, String> {
        let size = size_of(value);
        self.charge(size.bytes)?;
        Ok(size)
    }

    fn all(&mut self, parts: &[IdedExpr], elements: usize) -> Result<Size, String> {
        let mut size = Size { bytes: NODE_BYTES, elements: elements as u64 };
        for part in parts {
            let part = self.expr(part)?;
            size = Size { bytes: size.bytes.saturating_add(part.bytes), elements: size.elements.max(part.elements) };
        }
        Ok(size)
    }

    fn call(&mut self, call: &CallExpr) -> Result<Size, String> {
        let parts: Vec<&IdedExpr> = call.target.iter().map(AsRef::as_ref).chain(&call.args).collect();
        let sizes = parts.into_iter().map(|part| self.expr(part)).collect::<Result<Vec<Size>, String>>()?;
        let whole = sizes.iter().fold(Size::default(), |sum, size| sum.and(*size));
        let (work, size) = match (call.func_name.as_str(), sizes.as_slice()) {
            (operators::CONDITIONAL, [_, yes, no]) => (NODE_BYTES, yes.or(*no)),
            (operators::INDEX, [from, key]) => (key.bytes, *from),
            (operators::ADD, _) => (whole.bytes, whole),
            ("matches", _) => (whole.bytes.saturating_mul(MATCHING), Size::SCALAR),
            // Control characters of a text take more room once it is written as JSON.
            ("string", _) => (whole.bytes, Size { bytes: whole.bytes.saturating_mul(2), elements: 0 }),
            ("size", _) => (NODE_BYTES, Size::SCALAR),
            _ => (whole.bytes, Size::SCALAR),
        };
        self.charge(work)?;
        Ok(size)
    }

    fn comprehension(&mut self, comprehension: &ComprehensionExpr) -> Result<Size, String> {
        let range = self.expr(&comprehension.iter_range)?;
        if range.elements > ELEMENTS_MAX {
            return Err(format!("goes through more than {ELEMENTS_MAX} elements"));
        }
        let element = match known(&comprehension.iter_range, self.values, &self.bound) {
            Some(Value::Array(items)) => items.iter().map(size_of).fold(Size::SCALAR, Size::or),
            _ => range,
        };
        self.bound.insert(comprehension.iter_var.clone(), element);
        // Lists are collected in place, and everything else that is collected is a truth value or a number.
        self.bound.insert(comprehension.accu_var.clone(), Size::SCALAR);
        let before = std::mem::take(&mut self.work);
        self.expr(&comprehension.loop_cond)?;
        let step = self.expr(&comprehension.loop_step)?;
        let once = self.work.saturating_add(element.bytes);
        self.bound.clear();
        self.work = before;
        self.charge(once.saturating_mul(range.elements))?;
        if !matches!(comprehension.accu_init.expr, Expr::List(_)) {
            return Ok(Size::SCALAR);
        }
        let bytes = step.bytes.saturating_mul(range.elements).saturating_add(NODE_BYTES);
        Ok(Size { bytes, elements: range.elements.max(step.elements) })
    }
}

/// Returns the value that a path of names written out leads to.
fn known<'a>(
    expr: &IdedExpr,
    values: &'a BTreeMap<&'static str, Value>,
    bound: &BTreeMap<String, Size>,
) -> Option<&'a Value> {
    if let Expr::Ident(name) = &expr.expr {
        return values.get(name.as_str()).filter(|_| !bound.contains_key(name));
    }
    if let Expr::Select(select) = &expr.expr {
        return known(&select.operand, values, bound)?.get(&select.field).filter(|_| !select.test);
    }
    let Expr::Call(call) = &expr.expr else { return None };
    let [from, key] = call.args.as_slice() else { return None };
    if call.func_name != operators::INDEX {
        return None;
    }
    if let Expr::Literal(LiteralValue::String(key)) = &key.expr {
        return known(from, values, bound)?.get(key.inner());
    }
    let Expr::Literal(LiteralValue::Int(index)) = &key.expr else { return None };
    known(from, values, bound)?.get(usize::try_from(*index.inner()).ok()?)
}

fn text_size(text: &str) -> Size {
    Size { bytes: NODE_BYTES.saturating_add(text.len() as u64), elements: 0 }
}

fn size_of(value: &Value) -> Size {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => Size::SCALAR,
        Value::String(text) => text_size(text),
        Value::Array(items) => {
            let whole = Size { bytes: NODE_BYTES, elements: items.len() as u64 };
            items.iter().map(size_of).fold(whole, within)
        }
        Value::Object(fields) => {
            let whole = Size { bytes: NODE_BYTES, elements: fields.len() as u64 };
            fields.iter().map(|(name, value)| text_size(name).and(size_of(value))).fold(whole, within)
        }
    }
}

/// Returns the size of a list or object that also holds this part.
fn within(whole: Size, part: Size) -> Size {
    Size { bytes: whole.bytes.saturating_add(part.bytes), elements: whole.elements.max(part.elements) }
}
