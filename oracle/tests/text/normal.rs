//! Texts made comparable: letter case, spaces, comments and the base of numbers do not count.

/// A piece of a text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Token {
    /// A name, or a mark.
    Text(String),
    /// A number modulo 2^64. That of a negative 32-bit one is equal to the unsigned one.
    Number(u64),
}

/// Names that mean the same: the conditions.
const SYNONYMS: [(&str, &str); 6] =
    [("hs", "cs"), ("lo", "cc"), ("b.hs", "b.cs"), ("b.lo", "b.cc"), ("bc.hs", "bc.cs"), ("bc.lo", "bc.cc")];

fn name(word: &str) -> Token {
    let word = word.to_ascii_lowercase();
    Token::Text(SYNONYMS.iter().find(|pair| pair.0 == word).map_or(word, |pair| pair.1.into()))
}

/// Does `text` match `pattern`, in which each `*` stands for any characters?
pub fn matches(pattern: &str, text: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(text) = text.strip_prefix(start) else { return false };
    (0..=text.len()).filter(|&at| text.is_char_boundary(at)).any(|at| matches(rest, &text[at..]))
}

/// A text without comments, with single spaces, in lower case.
pub fn joined(text: &str) -> String {
    code(text).split_whitespace().collect::<Vec<_>>().join(" ").to_ascii_lowercase()
}

/// A text without its comment or the name of a target.
fn code(text: &str) -> &str {
    ["//", " <", ";"].iter().fold(text, |text, mark| text.split(mark).next().unwrap_or_default()).trim()
}

/// The pieces of a text.
pub fn tokens(text: &str) -> Vec<Token> {
    let mut found = Vec::new();
    let mut rest = code(text);
    while let Some(first) = rest.chars().next() {
        if first.is_whitespace() || first == '#' {
            rest = &rest[1..];
            continue;
        }
        let part_of_word = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '_';
        // A sign, and the one in an exponent.
        let mut end = 1;
        let number = first.is_ascii_digit() || first == '-' && rest[1..].starts_with(|c: char| c.is_ascii_digit());
        while let Some(next) = rest[end..].chars().next() {
            let exponent =
                number && (next == '-' || next == '+') && rest[..end].ends_with('e') && !rest.starts_with("0x");
            if !exponent && !(part_of_word(next) && (number || part_of_word(first))) {
                break;
            }
            end += 1;
        }
        let (word, after) = rest.split_at(end);
        found.push(number_of(word).map_or_else(|| name(word), Token::Number));
        rest = after;
    }
    without_ranges(found)
}

/// Writes `v30.4s-v1.4s` out.
fn without_ranges(tokens: Vec<Token>) -> Vec<Token> {
    let mut found: Vec<Token> = Vec::new();
    let mut tokens = tokens.into_iter();
    while let Some(token) = tokens.next() {
        let range = token == Token::Text("-".into());
        let (Some(Token::Text(first)), true) = (found.last(), range) else {
            found.push(token);
            continue;
        };
        let Some(Token::Text(last)) = tokens.next() else { panic!("a range without an end") };
        let parts = |name: &str| {
            let (number, arrangement) = name[1..].split_once('.').unwrap();
            (number.parse::<u32>().unwrap(), arrangement.to_owned())
        };
        let ((first, arrangement), (last, _)) = (parts(first), parts(&last));
        let mut number = first;
        while number != last {
            number = (number + 1) % 32;
            found.extend([Token::Text(",".into()), Token::Text(format!("v{number}.{arrangement}"))]);
        }
    }
    found
}

fn number_of(word: &str) -> Option<u64> {
    let (negative, digits) = word.strip_prefix('-').map_or((false, word), |digits| (true, digits));
    let number = match digits.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok()?,
        None if !digits.starts_with(|c: char| c.is_ascii_digit()) => return None,
        None if digits.contains('.') => return Some(digits.parse::<f64>().ok()?.to_bits() ^ u64::from(negative) << 63),
        None => digits.parse().ok()?,
    };
    let number = if negative { number.wrapping_neg() } else { number };
    // -1 of 32 bits is 0xffffffff.
    Some(if number >> 31 == 0x1_ffff_ffff { number & 0xffff_ffff } else { number })
}
