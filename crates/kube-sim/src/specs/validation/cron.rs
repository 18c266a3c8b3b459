//! The schedules of cron jobs: five fields, or a macro.

/// Why `schedule` is none, in the words of the library that a real server parses it with.
pub(super) fn fault(schedule: &str) -> Option<String> {
    parse(schedule).err()
}

fn parse(schedule: &str) -> Result<(), String> {
    if let Some(name) = schedule.strip_prefix('@') {
        return named(schedule, name);
    }
    let fields: Vec<_> = schedule.split_whitespace().collect();
    if fields.len() != 5 {
        let fields: Vec<_> = fields.iter().map(|field| field.to_owned()).collect();
        return Err(format!(
            "expected exactly 5 fields, found {}: [{}]",
            fields.len(),
            fields.join(" ")
        ));
    }
    const BOUNDS: [(u32, u32, &[&str]); 5] = [
        (0, 59, &[]),
        (0, 23, &[]),
        (1, 31, &[]),
        (
            1,
            12,
            &[
                "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
            ],
        ),
        (0, 6, &["sun", "mon", "tue", "wed", "thu", "fri", "sat"]),
    ];
    for (text, bounds) in fields.iter().zip(BOUNDS) {
        text.split(',')
            .filter(|range| !range.is_empty())
            .try_for_each(|range| field(range, bounds))?;
    }
    Ok(())
}

fn named(schedule: &str, name: &str) -> Result<(), String> {
    match name {
        "yearly" | "annually" | "monthly" | "weekly" | "daily" | "midnight" | "hourly" => Ok(()),
        _ => match name.strip_prefix("every ") {
            Some(duration) => {
                go_duration(duration).map_err(|why| format!("failed to parse duration {schedule}: {why}"))
            }
            None => Err(format!("unrecognized descriptor: {schedule}")),
        },
    }
}

/// A number, a name, a range of them or all, maybe with a step.
fn field(text: &str, (least, most, names): (u32, u32, &[&str])) -> Result<(), String> {
    let mut parts = text.split('/');
    let range = parts.next().unwrap_or("");
    let step = parts.next();
    let mut ends = range.split('-');
    let (first, last) = (ends.next().unwrap_or(""), ends.next());
    let is_open = matches!(first, "*" | "?");
    let number = |text: &str| -> Result<u32, String> {
        match names.iter().position(|name| *name == text.to_lowercase()) {
            Some(at) => Ok(u32::try_from(at).unwrap_or(0) + least),
            None => integer(text),
        }
    };
    let (start, mut end) = match (is_open, last) {
        (true, _) => (least, most),
        (false, None) => {
            let number = number(first)?;
            (number, number)
        }
        (false, Some(last)) => {
            let (start, end) = (number(first)?, number(last)?);
            if ends.next().is_some() {
                return Err(format!("too many hyphens: {text}"));
            }
            (start, end)
        }
    };
    let step = match step {
        None => 1,
        Some(step) => {
            let step = integer(step)?;
            if last.is_none() {
                end = most;
            }
            step
        }
    };
    if parts.next().is_some() {
        return Err(format!("too many slashes: {text}"));
    }
    if start < least {
        return Err(format!(
            "beginning of range ({start}) below minimum ({least}): {text}"
        ));
    }
    if end > most {
        return Err(format!("end of range ({end}) above maximum ({most}): {text}"));
    }
    if start > end {
        return Err(format!(
            "beginning of range ({start}) beyond end of range ({end}): {text}"
        ));
    }
    if step == 0 {
        return Err(format!("step of range should be a positive number: {text}"));
    }
    Ok(())
}

fn integer(text: &str) -> Result<u32, String> {
    let parsed = text.parse::<i64>();
    match parsed {
        Ok(number) if number < 0 => Err(format!("negative number ({number}) not allowed: {text}")),
        Ok(number) => Ok(u32::try_from(number).unwrap_or(u32::MAX)),
        Err(_) => {
            let why = match text.bytes().all(|b| b.is_ascii_digit()) && !text.is_empty() {
                true => "value out of range",
                false => "invalid syntax",
            };
            Err(format!(
                "failed to parse int from {text}: strconv.Atoi: parsing {}: {why}",
                crate::status::quoted(text)
            ))
        }
    }
}

/// A duration as Go reads it, such as `1h30m`.
fn go_duration(text: &str) -> Result<(), String> {
    let invalid = || format!("time: invalid duration {}", crate::status::quoted(text));
    let mut rest = text.strip_prefix(['+', '-']).unwrap_or(text);
    if rest == "0" {
        return Ok(());
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    while !rest.is_empty() {
        let digits = rest
            .find(|c: char| !(c.is_ascii_digit() || c == '.'))
            .unwrap_or(rest.len());
        let number = &rest[..digits];
        if !number.bytes().any(|b| b.is_ascii_digit()) || number.matches('.').count() > 1 {
            return Err(invalid());
        }
        rest = &rest[digits..];
        let letters = rest
            .find(|c: char| c.is_ascii_digit() || c == '.')
            .unwrap_or(rest.len());
        let unit = &rest[..letters];
        match unit {
            "" => {
                return Err(format!(
                    "time: missing unit in duration {}",
                    crate::status::quoted(text)
                ));
            }
            "ns" | "us" | "µs" | "μs" | "ms" | "s" | "m" | "h" => rest = &rest[letters..],
            _ => {
                return Err(format!(
                    "time: unknown unit {} in duration {}",
                    crate::status::quoted(unit),
                    crate::status::quoted(text)
                ));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::fault;

    #[test]
    fn schedules_are_told_from_other_strings() {
        for good in [
            "* * * * *",
            "*/5 0-23/2 1,15 jan-mar mon",
            "0 0 ? * SUN",
            "@daily",
            "@every 1h30m",
            "5/15 * * * *",
        ] {
            assert_eq!(fault(good), None, "{good}");
        }
        for bad in [
            "",
            "x",
            "* * * *",
            "* * * * * *",
            "60 * * * *",
            "* 24 * * *",
            "* * 0 * *",
            "* * * 13 *",
            "* * * * 7",
            "*/0 * * * *",
            "5-1 * * * *",
            "1-2-3 * * * *",
            "1/2/3 * * * *",
            "-1 * * * *",
            "99999999999999999999 * * * *",
            "@bogus",
            "@every x",
            "@every 5",
            "@every ",
        ] {
            assert!(fault(bad).is_some(), "{bad}");
        }
    }
}
