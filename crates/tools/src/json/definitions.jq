# What queries know besides the interpreter's own filters.
def null: [][0];

def values: select(. != null);
def nulls: select(type == "null");
def booleans: select(type == "boolean");
def numbers: select(type == "number");
def strings: select(type == "string");
def arrays: select(type == "array");
def objects: select(type == "object");
def iterables: select(type == "array" or type == "object");
def scalars: select(type != "array" and type != "object");

def abs: if . < 0 then -. else . end;
def add(f): reduce f as $item (null; . + $item);
def add: add(.[]);
def keys: keys_unsorted | sort;
def in(all): . as $key | all | has($key);
def inside(all): . as $part | all | contains($part);

def keyed(f): . as $list | [range(length) as $at | [[$list[$at] | f], $at]] | sort;
def sort_by(f): . as $list | keyed(f) | map($list[.[1]]);
def group_by(f): . as $list | keyed(f) | map([.[0], $list[.[1]]]) | groups;
def unique_by(f): group_by(f) | map(.[0]);
def unique: unique_by(.);
def min_by(f): sort_by(f)[0];
def max_by(f): sort_by(f)[-1];
def min: min_by(.);
def max: max_by(.);

def flatten: [recurse(if type == "array" then .[] else empty end) | select(type != "array")];
def flatten($depth): if $depth <= 0 then . else [.[] | if type == "array" then flatten($depth - 1)[] else . end] end;
def transpose: . as $rows | [range([.[] | length] | max) as $at | [$rows[][$at]]];
def split($by): . / $by;

def @text: tostring;
def @json: tojson;
def @csv: map(if type == "string" then "\"" + (split("\"") | join("\"\"")) + "\"" elif . == null then "" else tostring end) | join(",");
