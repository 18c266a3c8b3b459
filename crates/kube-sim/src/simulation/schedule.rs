//! What goes wrong in one run, where, and how it is written.

use std::fmt;
use std::str::FromStr;

/// A kind of fault that a simulation makes: [`Simulation::faults`](super::Simulation::faults).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum FaultKind {
    /// The program ends before a request, after the request has taken effect and before its answer, at an event of a watch, or
    /// at any time. It is down for up to 30 s and starts anew. Nothing that it spawned survives.
    Crash,
    /// A request is lost on its way: the connection breaks, and the request takes no effect.
    LostRequest,
    /// The request takes effect, but the connection breaks before the answer.
    LostAnswer,
    /// An update or a patch with a resource version is refused with 409, as if somebody else had written before.
    Conflict,
    /// A request is refused with 429, 500, 503 or 504, and takes no effect.
    Refusal,
    /// A request or its answer takes up to 30 s.
    Delay,
    /// The server that a program reads from is behind by up to 8 changes, for up to 60 s: reads of any version
    /// (`resourceVersion=0`) see the old state, and watches hold back what came after it. Where the program has seen newer states before (its
    /// last incarnation, or from another server), this is time travel.
    Lag,
    /// A watch falls silent for up to 60 s, then delivers what has happened.
    HeldWatch,
    /// A watch ends or breaks between two events; or all watches break.
    CutWatch,
    /// The API server restarts without the history of changes: watches break, and to resume one is answered with 410.
    ServerRestart,
    /// The program is cut off from the server for up to 60 s: requests fail in the end, answers and events wait.
    Partition,
}

impl FaultKind {
    /// All kinds.
    pub const ALL: [Self; 11] = [
        Self::Crash,
        Self::LostRequest,
        Self::LostAnswer,
        Self::Conflict,
        Self::Refusal,
        Self::Delay,
        Self::Lag,
        Self::HeldWatch,
        Self::CutWatch,
        Self::ServerRestart,
        Self::Partition,
    ];
}

/// A run of a replica of the program, from a start to a crash; both count from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Life {
    pub(super) replica: u32,
    pub(super) start: u32,
}

/// A request: by what it asks for and its place among those of one life that ask for the same, from 1.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RequestSite {
    pub(super) life: Life,
    /// `list`, `watch` and so on.
    pub(super) verb: &'static str,
    /// As in the rules of RBAC: `deployments.apps/status`.
    pub(super) resource: String,
    pub(super) nth: u32,
}

/// Where something can go wrong.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Site {
    Request(RequestSite),
    /// An event of a watch, from 1.
    Event(RequestSite, u32),
    /// A replica at a time in milliseconds.
    Replica(u32, u64),
    /// The server at a time in milliseconds.
    Server(u64),
}

/// What goes wrong. Times are in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Effect {
    CrashBefore(u64),
    CrashAfter(u64),
    Crash(u64),
    LoseRequest,
    LoseAnswer,
    Conflict,
    Refuse(u16),
    SlowRequest(u64),
    SlowAnswer(u64),
    Lag(u64, u64),
    Hold(u64),
    End,
    Cut,
    Partition(u64),
    Restart,
    CutAll,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Fault {
    pub(super) site: Site,
    pub(super) effect: Effect,
}

/// One run of a simulation: a seed, and optionally the faults that are left of those which it chose.
///
/// Written as `17`, or as `17[p0.0:create:configmaps:1=crash-after(500)]`: of the faults of seed 17 only a crash for half a second,
/// after the first creation of a ConfigMap by the first start (`.0`) of the first replica (`p0`) has taken effect.
/// `KUBE_SIM_SEED` and [`Simulation::replay`](super::Simulation::replay) take either form.
///
/// ```
/// use kube_sim::simulation::Schedule;
///
/// let schedule: Schedule = "17[p0.0:create:configmaps:1=crash-after(500)]".parse().unwrap();
/// assert_eq!(schedule.seed(), 17);
/// assert_eq!(schedule.to_string(), "17[p0.0:create:configmaps:1=crash-after(500)]");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    pub(super) seed: u64,
    /// None: those that the seed chooses.
    pub(super) faults: Option<Vec<Fault>>,
    /// Everything takes the same short time, in place of the times that the seed chooses.
    pub(super) even: bool,
}

impl Schedule {
    /// The run that a seed chooses.
    pub fn of_seed(seed: u64) -> Self {
        Self {
            seed,
            faults: None,
            even: false,
        }
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }
}

/// What is written is not a schedule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?} is no schedule at {part:?}: write a seed, as `17`, or what a failed simulation has printed"
)]
pub struct ScheduleError {
    text: String,
    part: String,
}

impl fmt::Display for Life {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "p{}.{}", self.replica, self.start)
    }
}

impl fmt::Display for RequestSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}:{}", self.life, self.verb, self.resource, self.nth)
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request(request) => write!(f, "{request}"),
            Self::Event(request, event) => write!(f, "{request}.{event}"),
            Self::Replica(replica, at) => write!(f, "p{replica}@{at}"),
            Self::Server(at) => write!(f, "server@{at}"),
        }
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CrashBefore(down) => write!(f, "crash-before({down})"),
            Self::CrashAfter(down) => write!(f, "crash-after({down})"),
            Self::Crash(down) => write!(f, "crash({down})"),
            Self::LoseRequest => f.write_str("lose-request"),
            Self::LoseAnswer => f.write_str("lose-answer"),
            Self::Conflict => f.write_str("conflict"),
            Self::Refuse(code) => write!(f, "refuse({code})"),
            Self::SlowRequest(time) => write!(f, "slow-request({time})"),
            Self::SlowAnswer(time) => write!(f, "slow-answer({time})"),
            Self::Lag(changes, time) => write!(f, "lag({changes};{time})"),
            Self::Hold(time) => write!(f, "hold({time})"),
            Self::End => f.write_str("end"),
            Self::Cut => f.write_str("cut"),
            Self::Partition(time) => write!(f, "partition({time})"),
            Self::Restart => f.write_str("restart"),
            Self::CutAll => f.write_str("cut-all"),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.site, self.effect)
    }
}

const EVEN: &str = "even";

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.seed)?;
        let Some(faults) = &self.faults else { return Ok(()) };
        let even = self.even.then(|| EVEN.to_owned());
        let parts: Vec<_> = even
            .into_iter()
            .chain(faults.iter().map(Fault::to_string))
            .collect();
        write!(f, "[{}]", parts.join(","))
    }
}

impl FromStr for Schedule {
    type Err = ScheduleError;

    fn from_str(text: &str) -> Result<Self, ScheduleError> {
        let error = |part: &str| ScheduleError {
            text: text.to_owned(),
            part: part.to_owned(),
        };
        let trimmed = text.trim();
        let (seed, list) = match trimmed.split_once('[') {
            Some((seed, rest)) => {
                let list = rest.strip_suffix(']').ok_or_else(|| error(rest))?;
                (seed, Some(list))
            }
            None => (trimmed, None),
        };
        let mut schedule = Self::of_seed(seed.trim().parse().map_err(|_| error(seed))?);
        if let Some(list) = list {
            let faults = schedule.faults.insert(Vec::new());
            for part in list.split(',').map(str::trim).filter(|part| !part.is_empty()) {
                match part {
                    EVEN => schedule.even = true,
                    part => faults.push(fault(part).ok_or_else(|| error(part))?),
                }
            }
        }
        Ok(schedule)
    }
}

fn fault(text: &str) -> Option<Fault> {
    let (site, effect) = text.split_once('=')?;
    Some(Fault {
        site: parse_site(site)?,
        effect: parse_effect(effect)?,
    })
}

fn parse_site(text: &str) -> Option<Site> {
    if let Some((who, at)) = text.split_once('@') {
        let at = at.parse().ok().filter(|at| *at <= LONGEST)?;
        return match who {
            "server" => Some(Site::Server(at)),
            who => Some(Site::Replica(who.strip_prefix('p')?.parse().ok()?, at)),
        };
    }
    let mut parts = text.split(':');
    let (replica, start) = parts.next()?.strip_prefix('p')?.split_once('.')?;
    let life = Life {
        replica: replica.parse().ok()?,
        start: start.parse().ok()?,
    };
    let verb = parts.next()?;
    let verb = VERBS.into_iter().find(|known| *known == verb)?;
    let resource = parts.next()?.to_owned();
    let place = parts.next()?;
    let (nth, event) = match place.split_once('.') {
        Some((nth, event)) => (nth, Some(event.parse().ok()?)),
        None => (place, None),
    };
    let request = RequestSite {
        life,
        verb,
        resource,
        nth: nth.parse().ok()?,
    };
    match (event, parts.next()) {
        (_, Some(_)) => None,
        (Some(event), None) => Some(Site::Event(request, event)),
        (None, None) => Some(Site::Request(request)),
    }
}

/// All verbs of requests; `raw` is what asks for no resource.
pub(super) const VERBS: [&str; 8] = [
    "get", "list", "watch", "create", "update", "patch", "delete", "raw",
];

fn parse_effect(text: &str) -> Option<Effect> {
    let (name, arguments) = match text.split_once('(') {
        Some((name, arguments)) => (name, arguments.strip_suffix(')')?),
        None => (text, ""),
    };
    let number = || arguments.parse::<u64>().ok();
    let effect = match name {
        "crash-before" => Effect::CrashBefore(number()?),
        "crash-after" => Effect::CrashAfter(number()?),
        "crash" => Effect::Crash(number()?),
        "lose-request" => Effect::LoseRequest,
        "lose-answer" => Effect::LoseAnswer,
        "conflict" => Effect::Conflict,
        "refuse" => Effect::Refuse(arguments.parse().ok().filter(|code| (400..600).contains(code))?),
        "slow-request" => Effect::SlowRequest(number()?),
        "slow-answer" => Effect::SlowAnswer(number()?),
        "lag" => {
            let (changes, time) = arguments.split_once(';')?;
            Effect::Lag(changes.parse().ok()?, time.parse().ok()?)
        }
        "hold" => Effect::Hold(number()?),
        "end" => Effect::End,
        "cut" => Effect::Cut,
        "partition" => Effect::Partition(number()?),
        "restart" => Effect::Restart,
        "cut-all" => Effect::CutAll,
        _ => return None,
    };
    effect.time().is_none_or(|time| time <= LONGEST).then_some(effect)
}

/// The longest and the latest time that a schedule may have written, in milliseconds: a day.
const LONGEST: u64 = 24 * 60 * 60 * 1000;

impl Effect {
    /// How long it takes.
    pub(super) fn time(self) -> Option<u64> {
        match self {
            Self::CrashBefore(time)
            | Self::CrashAfter(time)
            | Self::Crash(time)
            | Self::SlowRequest(time)
            | Self::SlowAnswer(time)
            | Self::Lag(_, time)
            | Self::Hold(time)
            | Self::Partition(time) => Some(time),
            _ => None,
        }
    }

    /// The same for this time.
    pub(super) fn lasting(self, time: u64) -> Self {
        match self {
            Self::CrashBefore(_) => Self::CrashBefore(time),
            Self::CrashAfter(_) => Self::CrashAfter(time),
            Self::Crash(_) => Self::Crash(time),
            Self::SlowRequest(_) => Self::SlowRequest(time),
            Self::SlowAnswer(_) => Self::SlowAnswer(time),
            Self::Lag(changes, _) => Self::Lag(changes, time),
            Self::Hold(_) => Self::Hold(time),
            Self::Partition(_) => Self::Partition(time),
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_reads_what_it_writes() {
        for text in [
            "0",
            "17[]",
            "17[even]",
            "18446744073709551615[p0.1:update:deployments.apps/status:2=conflict,p1@2000=partition(30000)]",
            "1[p0.0:watch:pods:1.12=hold(100),p0.0:watch:pods:1.13=cut,p0.0:watch:pods:2.1=end,server@5=restart]",
            "1[p0.0:list:pods:1=lag(3;500),p0.0:create:pods:1=lose-answer,p0.0:create:pods:2=lose-request]",
            "1[even,p0.0:raw:version:1=refuse(503),server@7=cut-all,p0@3=crash(4)]",
            "1[p0.0:delete:pods:1=slow-request(1),p0.0:patch:pods:1=slow-answer(2),p0.0:get:pods:1=crash-before(3)]",
        ] {
            let schedule: Schedule = text.parse().expect("a schedule");
            assert_eq!(schedule.to_string(), text);
        }
    }

    #[test]
    fn what_is_no_schedule_is_refused_with_its_part() {
        for (text, part) in [
            ("", ""),
            ("x", "x"),
            ("-1", "-1"),
            ("1[crash", "crash"),
            ("1[crash]", "crash"),
            ("1[p0.0:create:pods:1=sleep]", "p0.0:create:pods:1=sleep"),
            ("1[p0.0:eat:pods:1=cut]", "p0.0:eat:pods:1=cut"),
            ("1[p0.0:create:pods:1:2=cut]", "p0.0:create:pods:1:2=cut"),
            ("1[p0@1=crash(99999999999)]", "p0@1=crash(99999999999)"),
            (
                "1[p0@18446744073709551615=cut-all]",
                "p0@18446744073709551615=cut-all",
            ),
            ("1[p0.0:create:pods:1=refuse(9)]", "p0.0:create:pods:1=refuse(9)"),
        ] {
            let error = text.parse::<Schedule>().expect_err(text);
            assert_eq!(error.part, part);
        }
    }
}
